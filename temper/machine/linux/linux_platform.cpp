#include <array>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/machine/linux/linux_facts.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The value of KEY=value or KEY="value".
std::string assigned(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto line = trim(next_line(text));
    if (!line.starts_with(key) || line.size() <= key.size() ||
        line[key.size()] != '=')
      continue;
    auto value = trim(line.substr(key.size() + 1));
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    return clean(value);
  }
  return "";
}

std::string os_version(const fs::path& root) {
  for (const char* path : {"etc/os-release", "usr/lib/os-release"}) {
    const auto text = read_small_file(root / path);
    if (!text) continue;
    const std::string pretty = assigned(*text, "PRETTY_NAME");
    if (!pretty.empty()) return pretty;
    const std::string name = assigned(*text, "NAME");
    if (!name.empty()) return clean(cat(name, " ", assigned(*text, "VERSION")));
  }
  return "";
}

// The variable `container` of process 1; readable by root only.
std::string container_of_init(const fs::path& root) {
  const std::string environment =
      read_small_file(root / "proc/1/environ").value_or("");
  for (const std::string& variable : split(environment, '\0'))
    if (variable.starts_with("container=")) return clean(variable.substr(10));
  return "";
}

// Most telling first: a Kubernetes pod is also a Docker or containerd
// container.
std::string container(const fs::path& root) {
  const std::string groups =
      cat(read_small_file(root / "proc/1/cgroup").value_or(""),
          read_small_file(root / "proc/self/cgroup").value_or(""));
  if (is_there(root / "var/run/secrets/kubernetes.io") ||
      is_there(root / "run/secrets/kubernetes.io") ||
      contains(groups, "kubepods"))
    return "kubernetes";
  if (is_there(root / "run/.containerenv")) return "podman";
  if (is_there(root / ".dockerenv")) return "docker";
  if (is_there(root / ".singularity.d")) return "singularity";
  const std::string told = container_of_init(root);
  if (!told.empty()) return told;
  const std::string systemd = read_line(root / "run/systemd/container");
  if (!systemd.empty()) return systemd;
  for (const auto& [part, name] :
       {std::pair{"/docker", "docker"},
        std::pair{"libpod", "podman"},
        std::pair{"/lxc", "lxc"}})
    if (contains(groups, part)) return name;
  return "";
}

struct Hypervisor {
  const char* vendor_or_product;
  const char* name;
};
constexpr std::array kHypervisors{
    Hypervisor{"VMware", "vmware"},
    Hypervisor{"VirtualBox", "virtualbox"},
    Hypervisor{"innotek", "virtualbox"},
    Hypervisor{"Parallels", "parallels"},
    Hypervisor{"Apple Virtualization", "apple"},
    Hypervisor{"Xen", "xen"},
    Hypervisor{"Virtual Machine", "hyper-v"}, // Microsoft's product name
    Hypervisor{"Google Compute Engine", "google"},
    Hypervisor{"Amazon EC2", "aws"},
    Hypervisor{"KVM", "kvm"},
    Hypervisor{"QEMU", "kvm"},
    Hypervisor{"Firecracker", "firecracker"},
};

// x86 says with a CPU flag that it is a guest; then the board's name says of
// whom. ARM has no flag, so there the name alone decides.
std::string vm(const fs::path& root, const std::string& board) {
  const std::string cpuinfo =
      read_small_file(root / "proc/cpuinfo").value_or("");
  const auto flags = field(cpuinfo, "flags");
  const bool guest = flags && contains(cat(" ", *flags, " "), " hypervisor ");
  if (flags && !guest) return "";
  // Cloud providers name their bare machines so.
  if (!guest && contains(board, ".metal")) return "";
  for (const Hypervisor& known : kHypervisors)
    if (contains(board, known.vendor_or_product)) return known.name;
  if (read_line(root / "sys/hypervisor/type") == "xen") return "xen";
  return guest ? "unknown" : "";
}

} // namespace

Platform linux_platform(const fs::path& root) {
  Platform platform;
  platform.os = "linux";
  platform.version = os_version(root);
  platform.kernel = read_line(root / "proc/sys/kernel/osrelease");
  const fs::path dmi = root / "sys/class/dmi/id";
  const std::string product = read_line(dmi / "product_name");
  // Boards without DMI, as the Raspberry Pi, have a device tree.
  platform.model = product.empty()
      ? read_line(root / "sys/firmware/devicetree/base/model")
      : product;
  platform.container = container(root);
  platform.vm = contains(lower(platform.kernel), "microsoft")
      ? "wsl"
      : vm(root, cat(read_line(dmi / "sys_vendor"), " ", product));
  return platform;
}

} // namespace temper::machine
