// The facts about a Linux machine, read from the files below `root`: "/" on the
// real machine, any directory in a test. Compiled on every platform; what takes
// a system call comes in as an argument. probe_linux.cpp puts it together.
//
// linux_platform.cpp, linux_cpu.cpp and linux_facts.cpp hold the parts.
// Private to machine/linux.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "temper/machine/machine.h"

namespace temper::machine {

Platform linux_platform(const std::filesystem::path& root);

// `kernel_arch` as uname says it; `affinity` is the number of CPUs the process
// may run on, 0 when not known.
Cpu linux_cpu(
    const std::filesystem::path& root,
    const std::string& kernel_arch,
    int affinity);

// `address_space_limit` is RLIMIT_AS, when there is one.
Memory linux_memory(
    const std::filesystem::path& root,
    std::uint64_t page_bytes,
    std::optional<std::uint64_t> address_space_limit);

// NVIDIA's driver names its GPUs even where LibTorch was built without CUDA.
std::vector<Gpu> linux_nvidia_gpus(const std::filesystem::path& root);

// "Neoverse-N1", "Cortex-A76 + Cortex-A55": ARM's /proc/cpuinfo gives numbers
// where x86 gives a name. Empty when it has no such numbers.
std::string arm_model(std::string_view cpuinfo);

} // namespace temper::machine
