// One way to run a training step: where, in which memory layout, with how many
// threads, in which precision and by whose kernels. What candidates proposes, a
// Rig opens and the plan settles on.
#pragma once

#include <optional>
#include <string>

#include "temper/config/choices.h"
#include "temper/machine/device_kind.h"

namespace temper::plan {

using config::Kernels;
using config::Layout;
using config::Precision;

struct Setting {
  std::string device = "cpu"; // as LibTorch spells it: "cuda:0", "mps"
  Layout layout = Layout::contiguous;
  int threads = 1; // of LibTorch's operators on the CPU
  Precision precision = Precision::fp32;
  Kernels kernels = Kernels::stock;

  bool on_cpu() const {
    return machine::is_cpu(device);
  }
  friend bool operator==(const Setting&, const Setting&) = default;
};

// "cpu, channels_last, 4 threads, fp32", with ", fused" behind it where
// temper's own kernels compute.
std::string to_text(const Setting& setting);
// The setting in such a text; no value when it is another text.
std::optional<Setting> setting_from_text(const std::string& text);

// The owner of kernels in a sentence: "temper's own", "LibTorch's".
std::string whose(Kernels kernels);

// Contiguous fp32 on the CPU by LibTorch's operators is what every gradient is
// held against; the number of threads does not matter for it.
bool is_reference(const Setting& setting);

// A total order, simplest first: of two settings equally fast, the plan takes
// the simpler one, so that the same machine gets the same plan tomorrow.
bool simpler(const Setting& a, const Setting& b);

} // namespace temper::plan
