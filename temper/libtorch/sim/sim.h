// A simulated device: host memory behind a dispatch key of LibTorch's, computed
// on by the CPU's kernels, so that what a run does on a device can be watched
// on a machine that has none. It has a budget of bytes, refuses what real ones
// refuse, fails when told to, and counts exactly. `--device sim`, the tests,
// and in one test program LibTorch's MPS. Needs no torch here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace temper::libtorch::sim {

enum class Key {
  own, // LibTorch's key for devices it does not know
  mps, // in the place of the real one; in tests, never on a Mac
};

// Once a process, before tensors are made on it; again with the same key does
// nothing. Nobody who does not ask for the device has it registered.
void install(Key key = Key::own);

struct Rules {
  std::uint64_t memory_bytes = 0; // 0: no limit
  // The n-th allocation from now on fails; 0: none.
  std::int64_t fail_alloc = 0;
  bool fail_always = false; // and all that follow it
  // "aten::mm:1e-3": of what this operator computes, every other value is off
  // by that part of it.
  std::string fault;
  bool has_float64 = true;
};

// Error when `fault` cannot be read.
void set_rules(const Rules& rules);

struct Counts {
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::int64_t allocations = 0;
  std::int64_t refused = 0; // allocations
  std::int64_t copies_to = 0; // from the CPU
  std::uint64_t bytes_to = 0;
  std::int64_t copies_from = 0; // to the CPU
  std::uint64_t bytes_from = 0;
  std::int64_t syncs = 0; // times the host had to wait for a result
  std::int64_t kernels = 0; // operators run
};

Counts counts();
// Counts from zero again; the peak begins at what is live now.
void reset_counts();
void reset_peak(); // alone
// The number of kernels by operator: "aten::mm". An operator in place may count
// as the one that is not, which LibTorch makes of it.
std::map<std::string, std::int64_t> kernel_counts();

} // namespace temper::libtorch::sim
