// The seam to macOS: everything its side of this room reads goes through
// MacSource. mac_source_macos.cpp asks the system; the tests answer with what
// known Macs say, so mac_facts.cpp and mac_gauges.cpp, which make sense of the
// values, are built and tested on every platform.
//
// Each read is empty when the system does not know the quantity.
// Private to machine/mac.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace temper::machine {

// host_statistics64: counts of pages, and how large such a page is. That is
// the kernel's page, four times the process's own under Rosetta.
struct MacPages {
  std::uint64_t page_bytes = 0;
  std::uint64_t active = 0;
  std::uint64_t inactive = 0;
  std::uint64_t wired = 0;
  std::uint64_t speculative = 0;
  std::uint64_t compressor = 0;
  std::uint64_t purgeable = 0;
  std::uint64_t external = 0; // backed by files
};

struct MacSwap {
  std::uint64_t total_bytes = 0;
  std::uint64_t used_bytes = 0;
};

// The number that Activity Monitor calls memory: compressed and GPU pages
// included.
struct MacFootprint {
  std::uint64_t now_bytes = 0;
  std::optional<std::uint64_t> peak_bytes; // over the process's lifetime
};

struct MacTicks {
  std::uint32_t user = 0;
  std::uint32_t system = 0;
  std::uint32_t idle = 0;
  std::uint32_t nice = 0;
};

// One IOAccelerator of the I/O registry.
struct MacAccelerator {
  std::string class_name; // "AGXAcceleratorG13G"
  std::string model; // "Apple M1"; empty where the driver gives none
  std::optional<std::int64_t> cores; // "gpu-core-count", Apple only
  std::optional<std::int64_t> vram_mb; // "VRAM,totalMB", discrete only
  std::map<std::string, std::int64_t> statistics; // "PerformanceStatistics"
};

struct MacMetal {
  std::string name;
  std::uint64_t recommended_bytes = 0; // recommendedMaxWorkingSetSize
};

// The kernel hands out 32 bits of each counter: they wrap every 4 GiB.
struct MacInterface {
  std::string name;
  std::uint32_t in_bytes = 0;
  std::uint32_t out_bytes = 0;
};

struct MacDiskBytes {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};

struct MacVolume {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0; // for this user
  std::string filesystem;
};

// Not thread-safe: an implementation may keep handles and buffers.
class MacSource {
 public:
  virtual ~MacSource() = default;

  // The values of sysctl by key; no value for a key that this machine has not.
  virtual std::optional<std::int64_t> number(const std::string& key) = 0;
  virtual std::optional<std::string> text(const std::string& key) = 0;

  virtual std::optional<MacPages> pages() = 0;
  virtual std::optional<MacSwap> swap() = 0;
  virtual std::optional<MacFootprint> footprint() = 0;
  virtual std::optional<std::vector<MacTicks>> ticks() = 0; // one per core
  virtual std::optional<double> process_cpu_s() = 0;
  virtual std::optional<int> open_files() = 0;

  virtual std::vector<MacAccelerator> accelerators() = 0;
  // The default Metal device. On an Intel Mac with two GPUs asking for it
  // powers up the discrete one, so only ask where the GPU is Apple's.
  virtual std::optional<MacMetal> metal() = 0;

  virtual std::optional<std::uint64_t> thermal_level() = 0; // 0..4
  virtual std::optional<std::vector<MacInterface>> interfaces() = 0;
  virtual std::optional<MacDiskBytes> disk_bytes() = 0; // all drives together
  // The volume that holds a path; no value when the path does not exist.
  virtual std::optional<MacVolume> volume(
      const std::filesystem::path& path) = 0;
};

std::unique_ptr<MacSource> open_mac_source(); // macOS only

} // namespace temper::machine
