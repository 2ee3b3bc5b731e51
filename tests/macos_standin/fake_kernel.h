// A made-up kernel behind the stand-in declarations: sysctl, Mach, notify,
// libproc, statfs and the interface list, enough to run the true calls of
// mac_source_macos.cpp. What it hands out it wants back, and counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace temper::fake {

struct Kernel {
  std::map<std::string, std::string> sysctl; // key to raw bytes
  int open_files = 20;
  bool old_task_info = false; // a kernel that knows no footprint peak
  std::uint64_t thermal = 2;

  int mapped_arrays = 0; // given by host_processor_info, not yet deallocated
  int host_references = 0; // to the host port
  int notify_tokens = 0;
  int interface_lists = 0;
};

Kernel& kernel();

} // namespace temper::fake
