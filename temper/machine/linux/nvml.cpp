#include "temper/machine/linux/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

constexpr int kSuccess = 0;
constexpr std::size_t kNameBytes = 96; // NVML_DEVICE_NAME_V2_BUFFER_SIZE

} // namespace

struct Nvml::Library {
  // These are declared as in NVIDIA's nvml.h; every call returns 0 for success.
  struct Device;
  struct Utilization {
    unsigned gpu; // per cent
    unsigned memory;
  };
  struct MemoryInfo {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
  };

  void* handle = nullptr;
  bool started = false;
  std::vector<Device*> devices;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device**) = nullptr;
  int (*name)(Device*, char*, unsigned) = nullptr;
  int (*utilization)(Device*, Utilization*) = nullptr;
  int (*memory)(Device*, MemoryInfo*) = nullptr;

  ~Library() {
    if (started) shutdown();
    if (handle) dlclose(handle);
  }

  template <class Function>
  bool find(Function*& function, const char* symbol) {
    function = reinterpret_cast<Function*>(dlsym(handle, symbol));
    return function != nullptr;
  }

  bool load(const std::string& path) {
    handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    return handle && find(init, "nvmlInit_v2") &&
        find(shutdown, "nvmlShutdown") &&
        find(count, "nvmlDeviceGetCount_v2") &&
        find(device, "nvmlDeviceGetHandleByIndex_v2") &&
        find(name, "nvmlDeviceGetName") &&
        find(utilization, "nvmlDeviceGetUtilizationRates") &&
        find(memory, "nvmlDeviceGetMemoryInfo");
  }

  bool start() {
    started = init() == kSuccess;
    unsigned devices_found = 0;
    if (!started || count(&devices_found) != kSuccess) return false;
    for (unsigned i = 0; i < devices_found; ++i) {
      Device* found = nullptr;
      // A GPU that fell off the bus has no handle; the others still count.
      if (device(i, &found) == kSuccess) devices.push_back(found);
    }
    return true;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& library) {
  auto loaded = std::make_unique<Library>();
  if (!loaded->load(library) || !loaded->start()) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(loaded)));
}

std::vector<GpuGauge> Nvml::read() const {
  std::vector<GpuGauge> gauges;
  for (auto* device : library_->devices) {
    GpuGauge gauge;
    std::array<char, kNameBytes> name{};
    if (library_->name(device, name.data(), kNameBytes) == kSuccess) {
      name.back() = '\0';
      gauge.name = clean(name.data());
    }
    Library::Utilization utilization{};
    if (library_->utilization(device, &utilization) == kSuccess)
      gauge.utilisation = std::min(utilization.gpu, 100U) / 100.0;
    Library::MemoryInfo memory{};
    if (library_->memory(device, &memory) == kSuccess) {
      gauge.used_bytes = memory.used;
      gauge.total_bytes = memory.total;
    }
    gauges.push_back(std::move(gauge));
  }
  return gauges;
}

} // namespace temper::machine
