// The simulated device's memory and counters, shared by its operators
// (sim_mps.cpp) and what LibTorch asks about a device (sim_mps_hooks.cpp).
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

#include <atomic>
#include <cstdint>

#include "sim_mps.h"

namespace temper::sim_mps {

constexpr c10::DeviceType kMps = c10::DeviceType::MPS;

struct State {
  std::atomic<Fault> fault{Fault::none};
  std::atomic<std::int64_t> operators{0};
  std::atomic<std::int64_t> copies_to{0};
  std::atomic<std::int64_t> reads_from{0};
  std::atomic<std::int64_t> in_use{0};
};
State& state();

c10::Allocator& allocator();
// Memory of a CPU result, taken over without a copy.
c10::DataPtr adopt_memory(const c10::Storage& host);

} // namespace temper::sim_mps
