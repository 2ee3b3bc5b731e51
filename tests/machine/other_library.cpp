// A shared library that has none of NVML's functions.
extern "C" int not_nvml() {
  return 0;
}
