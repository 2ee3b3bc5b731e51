// The parts of MacSource that come from the I/O registry and from Metal.
// Used by mac_source_macos.cpp; each part is a file of its own because each
// speaks another framework's language.
// Private to machine/mac.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "temper/machine/mac/mac_source.h"

namespace temper::machine {

// Keeps the accelerators' registry entries between reads.
class MacRegistry {
 public:
  MacRegistry() = default;
  ~MacRegistry();
  MacRegistry(const MacRegistry&) = delete;
  MacRegistry& operator=(const MacRegistry&) = delete;

  std::vector<MacAccelerator> accelerators();
  std::optional<MacDiskBytes> disk_bytes();

 private:
  struct Entry {
    std::uint32_t service = 0; // an io_service_t, owned
    MacAccelerator fixed; // all but the statistics
  };
  void find_accelerators();
  void forget_accelerators();

  std::vector<Entry> entries_;
};

// The default Metal device; mac_metal_macos.cpp.
std::optional<MacMetal> read_metal();

} // namespace temper::machine
