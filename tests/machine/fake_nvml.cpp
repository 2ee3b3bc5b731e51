// Stands in for NVIDIA's libnvidia-ml: three GPUs, of which one reports no
// utilisation and one has fallen off the bus. Counts its starts and stops.
extern "C" {

struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct MemoryInfo {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

int fake_nvml_running = 0;
int fake_nvml_init_result = 0;

int nvmlInit_v2() {
  if (fake_nvml_init_result == 0) ++fake_nvml_running;
  return fake_nvml_init_result;
}

int nvmlShutdown() {
  --fake_nvml_running;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int handles[3] = {0, 1, 2};
  if (index == 1) return 15; // NVML_ERROR_GPU_IS_LOST
  *device = &handles[index];
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  const char* text = *static_cast<int*>(device) == 0 ? "NVIDIA GeForce RTX 3090"
                                                     : "NVIDIA A100-SXM4-40GB";
  unsigned i = 0;
  for (; text[i] != '\0' && i + 1 < length; ++i)
    name[i] = text[i];
  name[i] = '\0';
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* rates) {
  if (*static_cast<int*>(device) != 0) return 3; // NVML_ERROR_NOT_SUPPORTED
  *rates = {87, 40};
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, MemoryInfo* memory) {
  *memory = {24'000, 16'000, 8'000};
  return 0;
}

} // extern "C"
