// The facts about a Mac, made from what MacSource reads: the parts of Machine.
// Used by probe_macos.cpp; pure logic, built and tested on every platform.
// Private to machine/mac.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/mac/mac_source.h"
#include "temper/machine/machine.h"

namespace temper::machine {

Platform mac_platform(MacSource& source);
Cpu mac_cpu(MacSource& source);

// `address_space_limit` is RLIMIT_AS, no value when unlimited.
Memory mac_memory(
    MacSource& source,
    std::optional<std::uint64_t> address_space_limit);

std::vector<Gpu> mac_gpus(MacSource& source);

// The volume of `path`, or of its nearest parent that exists.
Disk mac_disk(MacSource& source, const std::filesystem::path& path);

// "apple", "amd", "intel", "nvidia"; empty for a driver we do not know.
std::string mac_gpu_vendor(const MacAccelerator& accelerator);

// Apple Silicon's own GPU, which shares the chip's memory. A paravirtual one
// is Apple's too, but no part of the chip.
bool mac_gpu_on_chip(const MacAccelerator& accelerator);

} // namespace temper::machine
