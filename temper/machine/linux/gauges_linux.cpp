#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "temper/machine/gauges_system.h"
#include "temper/machine/linux/linux_gauges.h"
#include "temper/machine/linux/nvml.h"

namespace temper::machine {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
      static_cast<double>(time.tv_usec) * 1e-6;
}

// Since Linux 6.2 the size of the directory is the number; before it is 0 and
// the entries are counted, one of which is the directory itself, open.
int open_file_count() {
  struct stat status {};
  if (stat("/proc/self/fd", &status) == 0 && status.st_size > 0)
    return static_cast<int>(status.st_size);
  namespace fs = std::filesystem;
  std::error_code error;
  int count = 0;
  fs::directory_iterator at("/proc/self/fd", error);
  for (; !error && at != fs::directory_iterator(); at.increment(error))
    ++count;
  return std::max(count - 1, 0);
}

class LinuxSystem : public Gauges::System {
 public:
  void read(Sample& sample, Counters& now) override {
    gauges_.read(sample, now);
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) == 0)
      now.process_cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    sample.open_files = open_file_count();
    if (nvml_) sample.gpus = nvml_->read();
  }

 private:
  LinuxGauges gauges_;
  std::unique_ptr<Nvml> nvml_ = Nvml::open();
};

} // namespace

std::unique_ptr<Gauges::System> Gauges::System::open() {
  return std::make_unique<LinuxSystem>();
}

} // namespace temper::machine
