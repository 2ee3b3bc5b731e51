// How many bytes of tensors a run may have at once, and who says so: the
// config, the device or the system. Decided before the first step; the
// allocators are held to it and the governor keeps its distance from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "temper/machine/gauges.h"
#include "temper/machine/machine.h"

namespace temper::memory {

struct Budget {
  std::uint64_t bytes = 0; // 0: not known
  std::string why; // "80 % of 16.0 GiB of memory"
};

struct BudgetRequest {
  std::string device = "cpu"; // "mps", "cuda:0", "sim"
  const machine::Machine& machine;
  machine::Sample now; // what is free; all 0: not looked at
  std::optional<std::uint64_t> asked; // memory.budget
  // The bytes that the device itself allows, where LibTorch or a config can
  // tell.
  std::optional<std::uint64_t> device_bytes;
  // Taken beside the tensors: batches made ahead, copies of the state.
  std::uint64_t beside_bytes = 0;
};

Budget budget_for(const BudgetRequest& request);

} // namespace temper::memory
