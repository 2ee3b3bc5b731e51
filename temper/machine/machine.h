// The machine: everything that probe() reads once at the start of a run. Plain
// data; the plan, doctor and machine.json are made from it. What changes while
// a run goes on is in gauges.h.
//
// A quantity that could not be read is 0 or empty, never a guess.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/libtorch/facts.h"

namespace temper::machine {

struct Platform {
  std::string os; // "linux", "macos"
  std::string version; // "Debian GNU/Linux 12 (bookworm)", "15.3"
  std::string kernel; // "6.1.0", "24.3.0"
  std::string model; // "Mac14,6", or the board's product name
  std::string container; // "docker", "lxc", ...; empty: none seen
  std::string vm; // "kvm", "apple", ...; empty: none seen
  bool rosetta = false; // this process is x86 code translated on Apple Silicon
};

struct Cpu {
  std::string model;
  std::string arch; // of this process: "x86_64", "arm64"
  std::string chip_arch; // of the chip; differs from arch under Rosetta
  int logical = 0;
  int physical = 0;
  int performance = 0; // physical performance cores; all where all are equal
  int efficiency = 0;
  // The cores that this process may use at once: affinity and container quota
  // counted.
  double usable = 0;
  std::string simd; // the best level: "AVX-512", "AVX2", "NEON", ...
  std::vector<std::string> features; // those that matter for training
  std::uint64_t l1d_bytes = 0; // of one performance core
  std::uint64_t l2_bytes = 0; // of one instance
  std::uint64_t l3_bytes = 0;
};

struct Memory {
  std::uint64_t physical_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::uint64_t page_bytes = 0;
  // The tightest limit below physical memory, and who set it.
  std::optional<std::uint64_t> limit_bytes;
  std::string limit_source; // "cgroup v2 /user.slice", "RLIMIT_AS"

  std::uint64_t usable_bytes() const {
    return limit_bytes ? *limit_bytes : physical_bytes;
  }
};

struct OpenFiles {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0; // UINT64_MAX: unlimited
};

struct Gpu {
  std::string vendor; // "apple", "nvidia"
  std::string model;
  int cores = 0; // Apple only
  std::uint64_t memory_bytes = 0; // its own, or the unified memory
  std::uint64_t recommended_bytes = 0; // Metal's recommended working set
};

struct Disk {
  std::string path; // where runs are written
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0; // for this user
  std::string filesystem; // "ext4", "apfs"
};

struct Machine {
  Platform platform;
  Cpu cpu;
  Memory memory;
  OpenFiles open_files;
  std::vector<Gpu> gpus;
  Disk disk;
  libtorch::Facts libtorch;

  bool apple_silicon() const {
    return platform.os == "macos" && cpu.chip_arch == "arm64";
  }
};

// The text of machine.json.
std::string to_json(const Machine& machine);

} // namespace temper::machine
