#include "temper/config/choices.h"

#include "temper/base/text.h"
#include "temper/base/words.h"

namespace temper::config {
namespace {

constexpr Word<Layout> kLayouts[] = {
    {Layout::contiguous, "contiguous"},
    {Layout::channels_last, "channels_last"}};
constexpr Word<Kernels> kKernels[] = {
    {Kernels::stock, "stock"},
    {Kernels::fused, "fused"}};
constexpr Word<Precision> kPrecisions[] = {
    {Precision::fp32, "fp32"},
    {Precision::bf16, "bf16"},
    {Precision::fp16, "fp16"},
    {Precision::fp64, "fp64"},
    {Precision::scaled, "scaled"}};
constexpr Word<NanPolicy> kNanPolicies[] = {
    {NanPolicy::skip, "skip"},
    {NanPolicy::rollback, "rollback"},
    {NanPolicy::stop, "stop"}};
constexpr Word<Recompute> kRecomputes[] = {
    {Recompute::off, "off"},
    {Recompute::on, "on"},
    {Recompute::automatic, "auto"}};
constexpr Word<HeadChoice> kHeads[] = {
    {HeadChoice::keep, "keep"},
    {HeadChoice::fresh, "new"},
    {HeadChoice::fit, "fit"}};

template <class Enum>
Enum known(
    std::optional<Enum> value,
    const char* key,
    const std::string& text) {
  if (!value)
    throw Error(
        cat("[config] ", key, " cannot be \"", text, "\"."),
        cat("temper help config ", key, " says what it can be."));
  return *value;
}

constexpr std::string_view kAuto = "auto";

} // namespace

const char* to_text(Layout layout) {
  return enum_text(kLayouts, layout);
}

std::optional<Layout> layout_from_text(std::string_view text) {
  return enum_value(kLayouts, text);
}

const char* to_text(Kernels kernels) {
  return enum_text(kKernels, kernels);
}

std::optional<Kernels> kernels_from_text(std::string_view text) {
  return enum_value(kKernels, text);
}

const char* to_text(Precision precision) {
  return enum_text(kPrecisions, precision);
}

std::optional<Precision> precision_from_text(std::string_view text) {
  return enum_value(kPrecisions, text);
}

const char* to_text(NanPolicy policy) {
  return enum_text(kNanPolicies, policy);
}

std::optional<NanPolicy> nan_policy_from_text(std::string_view text) {
  return enum_value(kNanPolicies, text);
}

const char* to_text(Recompute recompute) {
  return enum_text(kRecomputes, recompute);
}

std::optional<Recompute> recompute_from_text(std::string_view text) {
  return enum_value(kRecomputes, text);
}

const char* to_text(HeadChoice head) {
  return enum_text(kHeads, head);
}

std::optional<HeadChoice> head_from_text(std::string_view text) {
  return enum_value(kHeads, text);
}

std::optional<Layout> layout_of(const Config& config) {
  if (config.layout == kAuto) return std::nullopt;
  return known(layout_from_text(config.layout), "layout", config.layout);
}

std::optional<Kernels> kernels_of(const Config& config) {
  if (config.kernels == kAuto) return std::nullopt;
  return known(kernels_from_text(config.kernels), "kernels", config.kernels);
}

std::optional<Precision> precision_of(const Config& config) {
  const std::string& text = config.precision;
  if (text == kAuto) return std::nullopt;
  return known(precision_from_text(text), "precision", text);
}

Precision moments_of(const Optimizer& optimizer) {
  const std::string& text = optimizer.moments;
  return known(precision_from_text(text), "optimizer.moments", text);
}

NanPolicy nan_policy_of(const Guard& guard) {
  return known(nan_policy_from_text(guard.nan), "guard.nan", guard.nan);
}

Recompute recompute_of(const Memory& memory) {
  const std::string& text = memory.recompute;
  return known(recompute_from_text(text), "memory.recompute", text);
}

HeadChoice head_of(const Model& model) {
  return known(head_from_text(model.head), "model.head", model.head);
}

} // namespace temper::config
