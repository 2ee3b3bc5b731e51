// The saving of recycled CPU blocks: real training steps, alternately with the
// pool and without it, which is what LibTorch does by itself. CPU time and page
// faults of the process, so that a busy machine does not matter.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "temper/base/statistics.h"
#include "temper/libtorch/facts.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/train/engine/make_engine.h"
#include "temper/train/setup/run_data.h"
#include "temper/train/setup/run_model.h"

namespace {

using namespace temper;

struct Cost {
  double cpu_ms;
  double faults;
};

Cost now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 +
        static_cast<double>(time.tv_usec) / 1e3;
  };
  return {
      ms(usage.ru_utime) + ms(usage.ru_stime),
      static_cast<double>(usage.ru_minflt)};
}

} // namespace

int main(int argc, char** argv) {
  config::Config config;
  config.device = "cpu";
  config.model.name = argc > 1 ? argv[1] : "resnet18";
  if (config.model.name == "resnet18") config.model.stem = "cifar";
  config.data.source = "synthetic:images=256,size=32,classes=10";
  config.train.batch = argc > 2 ? std::atoi(argv[2]) : 64;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 12;
  memory::install_cpu_allocator();
  libtorch::set_threads(1, 1);
  auto data = train::open_data(config, {}, std::uint64_t{1} << 30);
  const auto model = train::choose_model(config, data);
  const auto engine = train::make_engine({config, model, data, "cpu", {}, {}});
  const auto batches = train::train_batches(data, config, {});
  batches->start(0);
  const data::HostBatch& batch = *batches->next();
  std::vector<double> cpu_ms[2];
  std::vector<double> faults[2];
  for (int round = 0; round < rounds; ++round)
    for (const bool pooled : {false, true}) {
      memory::recycle_cpu_blocks(pooled);
      train::StepOrder order;
      engine->step(batch, order); // fills the pool
      const Cost before = now();
      engine->step(batch, order);
      const Cost after = now();
      cpu_ms[pooled ? 1 : 0].push_back(after.cpu_ms - before.cpu_ms);
      faults[pooled ? 1 : 0].push_back(after.faults - before.faults);
    }
  const auto usage = memory::cpu_usage();
  std::printf(
      "%s, batch %lld, one thread, median of %d steps\n"
      "  without the pool  %8.1f ms CPU  %8.0f page faults\n"
      "  with the pool     %8.1f ms CPU  %8.0f page faults\n"
      "  peak of tensors %.1f MiB, held at most %.1f MiB, %lld of %lld "
      "allocations recycled\n",
      config.model.name.c_str(),
      static_cast<long long>(config.train.batch),
      rounds,
      median(cpu_ms[0]),
      median(faults[0]),
      median(cpu_ms[1]),
      median(faults[1]),
      static_cast<double>(usage.peak_bytes) / 1048576,
      static_cast<double>(usage.held_bytes) / 1048576,
      static_cast<long long>(usage.recycled),
      static_cast<long long>(usage.allocations));
}
