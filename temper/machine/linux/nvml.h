// NVIDIA's management library, loaded when it is there: what each GPU is, how
// busy it is and how full its memory is. temper is built without it; only the
// documented C interface is used. Not thread-safe.
// Private to machine/linux.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/machine/gauges.h"

namespace temper::machine {

class Nvml {
 public:
  // The loaded library; null when it is missing, too old or finds no driver.
  static std::unique_ptr<Nvml> open(
      const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // One entry per GPU. What a GPU does not report stays empty.
  std::vector<GpuGauge> read() const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

} // namespace temper::machine
