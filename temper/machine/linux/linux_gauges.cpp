#include "temper/machine/linux/linux_gauges.h"

#include <algorithm>
#include <array>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

bool digits_only(std::string_view text) {
  return !text.empty() &&
      text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <class Prefixes>
bool starts_with_any(std::string_view name, const Prefixes& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const char* prefix) {
    return name.starts_with(prefix);
  });
}

// The kernel's rule: sda1 is a part of sda, nvme0n1p1 of nvme0n1; the p is
// there when the disk's name ends in a digit.
bool is_partition(std::string_view name, std::string_view disk) {
  if (disk.empty() || !name.starts_with(disk)) return false;
  auto rest = name.substr(disk.size());
  if (digits_only(disk.substr(disk.size() - 1))) {
    if (!rest.starts_with("p")) return false;
    rest.remove_prefix(1);
  }
  return digits_only(rest);
}

// Memory, and layers whose bytes are counted again on the disks below.
bool is_layer(std::string_view name) {
  constexpr std::array kLayers{
      "loop", "ram", "zram", "dm-", "md", "bcache", "drbd"};
  // nvme0c0n1 is one of the paths to nvme0n1.
  const bool path = name.starts_with("nvme") && contains(name, "c");
  return path || starts_with_any(name, kLayers);
}

bool is_virtual(std::string_view interface) {
  constexpr std::array kVirtual{
      "veth",
      "docker",
      "br-",
      "virbr",
      "cni",
      "flannel",
      "cali",
      "vxlan",
      "ifb",
      "dummy",
      "bond",
      "team",
      "tun",
      "tap",
      "wg"};
  // eth0.100 is a VLAN on eth0.
  return contains(interface, ".") || starts_with_any(interface, kVirtual);
}

// "some avg10=1.50 avg60=...", in per cent.
std::optional<double> average_10s(
    std::string_view text,
    std::string_view kind) {
  while (!text.empty()) {
    const auto parts = words(next_line(text));
    if (parts.size() < 2 || parts[0] != kind) continue;
    if (!parts[1].starts_with("avg10=")) return std::nullopt;
    const auto percent = parse_double(parts[1].substr(6));
    if (!percent || *percent < 0 || *percent > 100) return std::nullopt;
    return *percent / 100;
  }
  return std::nullopt;
}

} // namespace

// cpu0 user nice system idle iowait irq softirq steal guest guest_nice
// Guest time is part of user time already.
void parse_cpu_times(std::string_view stat, Counters& counters) {
  while (stat.starts_with("cpu")) {
    const auto parts = words(next_line(stat));
    if (parts.size() < 5) continue;
    Counters::Busy busy;
    std::uint64_t stolen = 0;
    bool whole = true;
    for (std::size_t i = 1; i < parts.size() && i <= 8; ++i) {
      const auto ticks = parse_u64(parts[i]);
      if (!ticks) {
        whole = false;
        break;
      }
      const bool idle = i == 4 || i == 5;
      busy.total += *ticks;
      if (!idle) busy.busy += *ticks;
      if (i == 8) stolen = *ticks;
    }
    if (!whole) continue;
    if (parts[0] == "cpu") {
      counters.cpu = busy;
      counters.stolen = {stolen, busy.total};
    } else {
      counters.cores.push_back(busy);
    }
  }
}

std::optional<double> load_average(std::string_view loadavg) {
  const auto parts = words(next_line(loadavg));
  const auto value = parts.empty() ? std::nullopt : parse_double(parts[0]);
  return value && *value >= 0 ? value : std::nullopt;
}

// 8 0 sda reads merged sectors_read ms writes merged sectors_written ...
void parse_disk_bytes(std::string_view diskstats, Counters& counters) {
  constexpr std::uint64_t kSectorBytes = 512; // here, whatever the disk has
  std::vector<std::string_view> disks;
  std::uint64_t sectors_read = 0;
  std::uint64_t sectors_written = 0;
  while (!diskstats.empty()) {
    const auto parts = words(next_line(diskstats));
    if (parts.size() < 10 || is_layer(parts[2])) continue;
    const bool part =
        std::any_of(disks.begin(), disks.end(), [&](std::string_view disk) {
          return is_partition(parts[2], disk);
        });
    const auto read = parse_u64(parts[5]);
    const auto written = parse_u64(parts[9]);
    if (part || !read || !written) continue;
    disks.push_back(parts[2]);
    sectors_read += *read;
    sectors_written += *written;
  }
  if (disks.empty()) return;
  counters.disk_read_bytes = sectors_read * kSectorBytes;
  counters.disk_write_bytes = sectors_written * kSectorBytes;
}

// eth0: bytes packets errs drop fifo frame compressed multicast bytes ...
void parse_network_bytes(std::string_view dev, Counters& counters) {
  struct Bytes {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
    bool any = false;
  };
  Bytes real;
  Bytes other;
  while (!dev.empty()) {
    const auto line = next_line(dev);
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos) continue; // the two heading lines
    const auto name = trim(line.substr(0, colon));
    const auto parts = words(line.substr(colon + 1));
    if (name == "lo" || parts.size() < 9) continue;
    const auto in = parse_u64(parts[0]);
    const auto out = parse_u64(parts[8]);
    if (!in || !out) continue;
    Bytes& bytes = is_virtual(name) ? other : real;
    bytes.in += *in;
    bytes.out += *out;
    bytes.any = true;
  }
  const Bytes& seen = real.any ? real : other;
  if (!seen.any) return;
  counters.network_in_bytes = seen.in;
  counters.network_out_bytes = seen.out;
}

void parse_memory_pressure(std::string_view pressure, Sample& sample) {
  constexpr double kLine = 0.10;
  sample.memory_stall = average_10s(pressure, "some");
  if (!sample.memory_stall) return;
  const double full = average_10s(pressure, "full").value_or(0);
  sample.pressure = full > kLine     ? Pressure::critical
      : *sample.memory_stall > kLine ? Pressure::warning
                                     : Pressure::normal;
}

LinuxGauges::LinuxGauges(fs::path root)
    : root_(std::move(root)),
      memory_groups_(linux_cgroups(root_, "memory")),
      cpu_groups_(linux_cgroups(root_, "cpu")),
      thermal_(root_) {}

void LinuxGauges::read_memory(Sample& sample) const {
  const fs::path proc = root_ / "proc";
  const std::string status = read_small_file(proc / "self/status").value_or("");
  sample.rss_bytes = kib_field(status, "VmRSS").value_or(0);
  sample.peak_rss_bytes = kib_field(status, "VmHWM").value_or(0);
  const auto own = kib_field(status, "RssAnon"); // from Linux 4.5 on
  sample.own_bytes =
      own ? *own + kib_field(status, "RssShmem").value_or(0) : sample.rss_bytes;

  const std::string meminfo = read_small_file(proc / "meminfo").value_or("");
  sample.available_bytes = kib_field(meminfo, "MemAvailable").value_or(0);
  if (const auto left = memory_available(memory_groups_))
    sample.available_bytes = sample.available_bytes > 0
        ? std::min(sample.available_bytes, *left)
        : *left;
  const auto swap = kib_field(meminfo, "SwapTotal").value_or(0);
  const auto swap_free = kib_field(meminfo, "SwapFree").value_or(swap);
  sample.swap_used_bytes = swap - std::min(swap, swap_free);
}

void LinuxGauges::read(Sample& sample, Counters& now) {
  const auto text = [&](const char* path) {
    return read_small_file(root_ / path).value_or("");
  };
  parse_cpu_times(text("proc/stat"), now);
  if (const auto throttled = cpu_throttling(cpu_groups_))
    now.throttled = {throttled->throttled, throttled->periods};
  sample.load_average = load_average(text("proc/loadavg"));
  read_memory(sample);
  parse_memory_pressure(text("proc/pressure/memory"), sample);
  parse_disk_bytes(text("proc/diskstats"), now);
  parse_network_bytes(text("proc/net/dev"), now);
  sample.thermal = thermal_.read(sample.time_s);
}

} // namespace temper::machine
