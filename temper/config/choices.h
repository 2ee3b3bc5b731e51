// Settings that are one of a few things, as enums. A config keeps the words
// that were written; whoever acts on one asks here once, and compares no text.
// The words are those of config.toml, plan.json and the journal.
#pragma once

#include <optional>
#include <string_view>

#include "temper/config/config.h"

namespace temper::config {

// How the pixels of images lie in memory.
enum class Layout { contiguous, channels_last };
const char* to_text(Layout layout);
std::optional<Layout> layout_from_text(std::string_view text);

// The code that computes a step on a CPU: LibTorch's operators one by one, or
// kernels of our own for groups of them.
enum class Kernels { stock, fused };
const char* to_text(Kernels kernels);
std::optional<Kernels> kernels_from_text(std::string_view text);

// The numbers that arithmetic is done in; bf16 and fp16 where autocast says so.
enum class Precision {
  fp32,
  bf16,
  fp16,
  // Not for configs: what the others are held against, and fp32 with fp16's
  // loss scale, which lets any device test that.
  fp64,
  scaled,
};
const char* to_text(Precision precision);
std::optional<Precision> precision_from_text(std::string_view text);

// The fate of a batch whose loss or gradient is not finite: guard.nan.
enum class NanPolicy { skip, rollback, stop };
const char* to_text(NanPolicy policy);
std::optional<NanPolicy> nan_policy_from_text(std::string_view text);

// Whether activations are computed again rather than kept: memory.recompute.
enum class Recompute { off, on, automatic };
const char* to_text(Recompute recompute);
std::optional<Recompute> recompute_from_text(std::string_view text);

// The fate of the last layer: model.head.
enum class HeadChoice { keep, fresh, fit };
const char* to_text(HeadChoice head);
std::optional<HeadChoice> head_from_text(std::string_view text);

// The choices of a config. No value: "auto", temper decides. Error for a word
// that the key does not take, which only a program can have put there.
std::optional<Layout> layout_of(const Config& config);
std::optional<Kernels> kernels_of(const Config& config);
std::optional<Precision> precision_of(const Config& config);
Precision moments_of(const Optimizer& optimizer);
NanPolicy nan_policy_of(const Guard& guard);
Recompute recompute_of(const Memory& memory);
HeadChoice head_of(const Model& model);

} // namespace temper::config
