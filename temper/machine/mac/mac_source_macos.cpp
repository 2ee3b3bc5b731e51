#include "temper/machine/mac/mac_source.h"

#include <ifaddrs.h>
#include <libproc.h>
#include <mach/mach.h>
#include <mach/mach_host.h>
#include <mach/processor_info.h>
#include <net/if.h>
#include <notify.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include <cstring>

#include "temper/machine/mac/mac_registry.h"

namespace temper::machine {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
      static_cast<double>(time.tv_usec) * 1e-6;
}

class SystemMac : public MacSource {
 public:
  SystemMac();
  ~SystemMac() override;
  SystemMac(const SystemMac&) = delete;
  SystemMac& operator=(const SystemMac&) = delete;

  std::optional<std::int64_t> number(const std::string& key) override;
  std::optional<std::string> text(const std::string& key) override;
  std::optional<MacPages> pages() override;
  std::optional<MacSwap> swap() override;
  std::optional<MacFootprint> footprint() override;
  std::optional<std::vector<MacTicks>> ticks() override;
  std::optional<double> process_cpu_s() override;
  std::optional<int> open_files() override;
  std::vector<MacAccelerator> accelerators() override {
    return registry_.accelerators();
  }
  std::optional<MacMetal> metal() override {
    return read_metal();
  }
  std::optional<std::uint64_t> thermal_level() override;
  std::optional<std::vector<MacInterface>> interfaces() override;
  std::optional<MacDiskBytes> disk_bytes() override {
    return registry_.disk_bytes();
  }
  std::optional<MacVolume> volume(const std::filesystem::path& path) override;

 private:
  // Each mach_host_self() adds a reference to the port: taken once.
  mach_port_t host_ = mach_host_self();
  MacRegistry registry_;
  std::optional<int> thermal_token_;
  using Fd = proc_fdinfo;
  std::vector<Fd> descriptors_ = std::vector<Fd>(256); // grows as needed
};

SystemMac::SystemMac() {
  int token = 0;
  const std::uint32_t status =
      notify_register_check("com.apple.system.thermalpressurelevel", &token);
  if (status == NOTIFY_STATUS_OK) thermal_token_ = token;
}

SystemMac::~SystemMac() {
  if (thermal_token_) notify_cancel(*thermal_token_);
  mach_port_deallocate(mach_task_self(), host_);
}

// Some keys are 32 bits wide and some 64; the system says which.
std::optional<std::int64_t> SystemMac::number(const std::string& key) {
  unsigned char bytes[8] = {};
  std::size_t size = sizeof bytes;
  if (sysctlbyname(key.c_str(), bytes, &size, nullptr, 0) != 0) {
    return std::nullopt;
  }
  if (size == sizeof(std::int32_t)) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  if (size != sizeof(std::int64_t)) return std::nullopt;
  std::int64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::optional<std::string> SystemMac::text(const std::string& key) {
  std::size_t size = 0;
  if (sysctlbyname(key.c_str(), nullptr, &size, nullptr, 0) != 0) {
    return std::nullopt;
  }
  std::string value(size, '\0');
  if (sysctlbyname(key.c_str(), value.data(), &size, nullptr, 0) != 0) {
    return std::nullopt;
  }
  value.resize(size);
  return value.substr(0, value.find('\0')); // the size counts the final zero
}

std::optional<MacPages> SystemMac::pages() {
  vm_size_t page_bytes = 0;
  if (host_page_size(host_, &page_bytes) != KERN_SUCCESS) return std::nullopt;
  vm_statistics64_data_t counts = {};
  mach_msg_type_number_t size = HOST_VM_INFO64_COUNT;
  const kern_return_t result = host_statistics64(
      host_, HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&counts), &size);
  if (result != KERN_SUCCESS) return std::nullopt;
  MacPages pages;
  pages.page_bytes = page_bytes;
  pages.active = counts.active_count;
  pages.inactive = counts.inactive_count;
  pages.wired = counts.wire_count;
  pages.speculative = counts.speculative_count;
  pages.compressor = counts.compressor_page_count;
  pages.purgeable = counts.purgeable_count;
  pages.external = counts.external_page_count;
  return pages;
}

std::optional<MacSwap> SystemMac::swap() {
  xsw_usage usage = {};
  std::size_t size = sizeof usage;
  if (sysctlbyname("vm.swapusage", &usage, &size, nullptr, 0) != 0) {
    return std::nullopt;
  }
  return MacSwap{usage.xsu_total, usage.xsu_used};
}

std::optional<MacFootprint> SystemMac::footprint() {
  task_vm_info_data_t info = {};
  mach_msg_type_number_t size = TASK_VM_INFO_COUNT;
  const kern_return_t result = task_info(
      mach_task_self(),
      TASK_VM_INFO,
      reinterpret_cast<task_info_t>(&info),
      &size);
  // An older kernel leaves a field that it does not know as it was: zero.
  if (result != KERN_SUCCESS || info.phys_footprint == 0) return std::nullopt;
  MacFootprint footprint;
  footprint.now_bytes = info.phys_footprint;
  if (info.ledger_phys_footprint_peak > 0) {
    footprint.peak_bytes =
        static_cast<std::uint64_t>(info.ledger_phys_footprint_peak);
  }
  return footprint;
}

std::optional<std::vector<MacTicks>> SystemMac::ticks() {
  natural_t cores = 0;
  processor_info_array_t info = nullptr;
  mach_msg_type_number_t size = 0;
  const kern_return_t result =
      host_processor_info(host_, PROCESSOR_CPU_LOAD_INFO, &cores, &info, &size);
  if (result != KERN_SUCCESS) return std::nullopt;
  std::vector<MacTicks> ticks;
  const auto load = reinterpret_cast<processor_cpu_load_info_t>(info);
  for (natural_t core = 0; core < cores; core++) {
    const natural_t* counts = load[core].cpu_ticks;
    MacTicks tick;
    tick.user = counts[CPU_STATE_USER];
    tick.system = counts[CPU_STATE_SYSTEM];
    tick.idle = counts[CPU_STATE_IDLE];
    tick.nice = counts[CPU_STATE_NICE];
    ticks.push_back(tick);
  }
  // The kernel mapped the array into our address space.
  vm_deallocate(
      mach_task_self(),
      reinterpret_cast<vm_address_t>(info),
      size * sizeof(integer_t));
  return ticks;
}

std::optional<double> SystemMac::process_cpu_s() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// The list is complete unless it filled all the room there was.
std::optional<int> SystemMac::open_files() {
  for (;;) {
    const auto room = static_cast<int>(descriptors_.size() * sizeof(Fd));
    const int filled =
        proc_pidinfo(getpid(), PROC_PIDLISTFDS, 0, descriptors_.data(), room);
    if (filled <= 0) return std::nullopt;
    if (filled < room) return filled / static_cast<int>(sizeof(Fd));
    descriptors_.resize(descriptors_.size() * 2);
  }
}

std::optional<std::uint64_t> SystemMac::thermal_level() {
  if (!thermal_token_) return std::nullopt;
  std::uint64_t level = 0;
  if (notify_get_state(*thermal_token_, &level) != NOTIFY_STATUS_OK) {
    return std::nullopt;
  }
  return level;
}

std::optional<std::vector<MacInterface>> SystemMac::interfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return std::nullopt;
  std::vector<MacInterface> interfaces;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const bool link = each->ifa_addr != nullptr &&
        each->ifa_addr->sa_family == AF_LINK && each->ifa_data != nullptr;
    if (!link) continue;
    const auto* data = static_cast<const if_data*>(each->ifa_data);
    interfaces.push_back({each->ifa_name, data->ifi_ibytes, data->ifi_obytes});
  }
  freeifaddrs(first);
  return interfaces;
}

std::optional<MacVolume> SystemMac::volume(const std::filesystem::path& path) {
  struct statfs info = {};
  if (statfs(path.c_str(), &info) != 0) return std::nullopt;
  MacVolume volume;
  volume.total_bytes = std::uint64_t{info.f_blocks} * info.f_bsize;
  volume.free_bytes = std::uint64_t{info.f_bavail} * info.f_bsize;
  volume.filesystem = info.f_fstypename;
  return volume;
}

} // namespace

std::unique_ptr<MacSource> open_mac_source() {
  return std::make_unique<SystemMac>();
}

} // namespace temper::machine
