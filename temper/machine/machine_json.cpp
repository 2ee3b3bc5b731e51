#include <limits>
#include <nlohmann/json.hpp>

#include "temper/machine/machine.h"

namespace temper::machine {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<std::uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// null: no limit.
Json limit(std::uint64_t value) {
  if (value == std::numeric_limits<std::uint64_t>::max()) return nullptr;
  return value;
}

Json json(const Platform& platform) {
  return {
      {"os", platform.os},
      {"version", platform.version},
      {"kernel", platform.kernel},
      {"model", platform.model},
      {"container", platform.container},
      {"vm", platform.vm},
      {"rosetta", platform.rosetta},
  };
}

Json json(const Cpu& cpu) {
  return {
      {"model", cpu.model},
      {"arch", cpu.arch},
      {"chip_arch", cpu.chip_arch},
      {"logical", cpu.logical},
      {"physical", cpu.physical},
      {"performance", cpu.performance},
      {"efficiency", cpu.efficiency},
      {"usable", cpu.usable},
      {"simd", cpu.simd},
      {"features", cpu.features},
      {"l1d_bytes", cpu.l1d_bytes},
      {"l2_bytes", cpu.l2_bytes},
      {"l3_bytes", cpu.l3_bytes},
  };
}

Json json(const Memory& memory) {
  return {
      {"physical_bytes", memory.physical_bytes},
      {"swap_bytes", memory.swap_bytes},
      {"page_bytes", memory.page_bytes},
      {"limit_bytes", or_null(memory.limit_bytes)},
      {"limit_source", memory.limit_source},
  };
}

Json json(const Gpu& gpu) {
  return {
      {"vendor", gpu.vendor},
      {"model", gpu.model},
      {"cores", gpu.cores},
      {"memory_bytes", gpu.memory_bytes},
      {"recommended_bytes", gpu.recommended_bytes},
  };
}

Json json(const Disk& disk) {
  return {
      {"path", disk.path},
      {"total_bytes", disk.total_bytes},
      {"free_bytes", disk.free_bytes},
      {"filesystem", disk.filesystem},
  };
}

Json json(const libtorch::Facts& facts) {
  return {
      {"present", facts.present},
      {"version", facts.version},
      {"built_with", facts.built_with},
      {"blas", facts.blas},
      {"lapack", facts.lapack},
      {"onednn", facts.onednn},
      {"openmp", facts.openmp},
      {"cpu_capability", facts.cpu_capability},
      {"default_threads", facts.default_threads},
      {"cuda_built", facts.cuda_built},
      {"cuda_available", facts.cuda_available},
      {"cuda_devices", facts.cuda_devices},
      {"mps_built", facts.mps_built},
      {"mps_available", facts.mps_available},
  };
}

} // namespace

std::string to_json(const Machine& machine) {
  Json gpus = Json::array();
  for (const Gpu& gpu : machine.gpus)
    gpus.push_back(json(gpu));
  const Json all = {
      {"platform", json(machine.platform)},
      {"cpu", json(machine.cpu)},
      {"memory", json(machine.memory)},
      {"open_files",
       {{"soft", limit(machine.open_files.soft)},
        {"hard", limit(machine.open_files.hard)}}},
      {"gpus", gpus},
      {"disk", json(machine.disk)},
      {"libtorch", json(machine.libtorch)},
  };
  // Names come from the system and need not be UTF-8.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace temper::machine
