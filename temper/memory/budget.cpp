#include "temper/memory/budget.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/machine/device_kind.h"

namespace temper::memory {
namespace {

// The rest is for the system, other programs, and what no allocator counts.
constexpr double kShareOfMemory = 0.8;
constexpr double kShareOfFree = 0.9;
// An address space also holds the program and every library.
constexpr double kShareOfAddresses = 0.6;
constexpr double kShareOfDevice = 0.9;

std::uint64_t part_of(std::uint64_t bytes, double share) {
  return static_cast<std::uint64_t>(share * static_cast<double>(bytes));
}

// The least of what was offered, with its reason.
class Least {
 public:
  void offer(std::uint64_t bytes, double share, const std::string& of) {
    if (bytes == 0) return;
    const std::uint64_t part = part_of(bytes, share);
    if (found_.bytes > 0 && found_.bytes <= part) return;
    found_.bytes = part;
    found_.why =
        cat(share < 1 ? percent_text(share, 0) + " of " : "",
            bytes_text(bytes),
            " ",
            of);
  }
  const Budget& found() const {
    return found_;
  }

 private:
  Budget found_;
};

void offer_system(Least& least, const BudgetRequest& request) {
  const machine::Memory& memory = request.machine.memory;
  least.offer(memory.physical_bytes, kShareOfMemory, "of memory");
  if (memory.limit_bytes)
    least.offer(
        *memory.limit_bytes,
        memory.limit_source == "RLIMIT_AS" ? kShareOfAddresses : kShareOfMemory,
        cat("that ", memory.limit_source, " allows"));
  // Memory that this process has already counts as free: it is about to use it.
  if (request.now.available_bytes > 0)
    least.offer(
        request.now.available_bytes + request.now.rss_bytes,
        kShareOfFree,
        "that is free now");
}

std::uint64_t recommended_bytes(const machine::Machine& machine) {
  std::uint64_t most = 0;
  for (const machine::Gpu& gpu : machine.gpus)
    if (gpu.vendor == "apple") most = std::max(most, gpu.recommended_bytes);
  return most;
}

void offer_cuda(Least& least, const BudgetRequest& request) {
  const auto dot = request.device.find(':');
  const auto index = dot == std::string::npos
      ? 0
      : parse_int(request.device.substr(dot + 1)).value_or(0);
  std::int64_t seen = 0;
  for (const machine::Gpu& gpu : request.machine.gpus) {
    if (gpu.vendor != "nvidia") continue;
    if (seen++ != index) continue;
    std::uint64_t used = 0;
    for (const machine::GpuGauge& gauge : request.now.gpus)
      if (gauge.name == gpu.model) used = gauge.used_bytes.value_or(0);
    least.offer(
        gpu.memory_bytes > used ? gpu.memory_bytes - used : gpu.memory_bytes,
        kShareOfDevice,
        cat("that is free on ", gpu.model));
  }
}

} // namespace

Budget budget_for(const BudgetRequest& request) {
  if (request.asked) return {*request.asked, "memory.budget"};
  Least least;
  const auto kind = machine::device_kind(request.device);
  const bool unified = kind == machine::DeviceKind::mps;
  const bool shared = kind == machine::DeviceKind::cpu || unified;
  if (request.device_bytes)
    least.offer(*request.device_bytes, 1, "that the device has");
  else if (unified)
    least.offer(
        recommended_bytes(request.machine),
        kShareOfDevice,
        "that Metal recommends to use at most");
  else if (kind == machine::DeviceKind::cuda)
    offer_cuda(least, request);
  if (shared) offer_system(least, request);
  Budget found = least.found();
  if (shared && request.beside_bytes > 0 && found.bytes > 0) {
    found.bytes -= std::min(found.bytes / 2, request.beside_bytes);
    found.why +=
        cat(", less ",
            bytes_text(request.beside_bytes),
            " for batches made ahead and copies of the state");
  }
  return found;
}

} // namespace temper::memory
