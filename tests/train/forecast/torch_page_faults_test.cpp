// Steps take the memory that the steps before them gave back: once they are
// warm, the system is asked for no more pages.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "temper/base/text.h"
#include "temper/memory/cpu_allocator.h"
#include "tests/train/torch/engine_samples.h"

namespace temper::train {
namespace {

std::int64_t page_faults() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

Sample mobilenet(bool fused) {
  Sample sample = pictures(sgd(), "mobilenet_v2");
  sample.fused = fused;
  sample.channels_last = true;
  sample.zoo.image_size = 96;
  sample.zoo.width = 0.5;
  sample.zoo.stem = "";
  return sample;
}

// Faults of a step, on average, after some that warm it up.
double faults_of_a_step(Engine& engine, const data::HostBatch& batch) {
  constexpr int kWarm = 5;
  constexpr int kSteps = 6;
  std::int64_t before = 0;
  for (int i = 0; i < kWarm + kSteps; ++i) {
    if (i == kWarm) before = page_faults();
    engine.step(batch, order(i, 0, 0));
    engine.report();
    engine.take_training_sums();
  }
  return static_cast<double>(page_faults() - before) / kSteps;
}

class PageFaults : public testing::TestWithParam<bool> {
 protected:
  PageFaults() {
    memory::install_cpu_allocator();
    memory::trim_cpu_pool();
  }
  ~PageFaults() override {
    memory::recycle_cpu_blocks(true);
  }
};

// MobileNetV2 with activations of 60 MB and more: 30 large pages or 15,000
// small ones.
TEST_P(PageFaults, AreNoneOnceStepsAreWarm) {
#ifndef __linux__
  GTEST_SKIP() << "counts what Linux counts.";
#endif
  const Sample sample = mobilenet(GetParam());
  const Samples batch = images(32, 3, 96);
  const auto engine = sample.engine();
  const double warm = faults_of_a_step(*engine, batch.batch);
  RecordProperty("faults", cat(warm));
  // Some are the system's own: clocks, threads that sleep and wake.
  EXPECT_LT(warm, 20);
  // Without memory that waits there are many: this test can fail.
  memory::recycle_cpu_blocks(false);
  EXPECT_GT(faults_of_a_step(*engine, batch.batch), warm + 20);
}

INSTANTIATE_TEST_SUITE_P(WithStockAndFusedKernels, PageFaults, testing::Bool());

// Steps whose blocks have other sizes each, as sequences and last batches have,
// do not pile up: memory that waits is joined to what the next step needs.
TEST(HeldMemory, IsLittleMoreThanWhatTensorsHoldAtOnce) {
  memory::install_cpu_allocator();
  memory::trim_cpu_pool();
  const auto engine = mobilenet(true).engine();
  memory::reset_cpu_peak();
  for (int i = 0; i < 6; ++i) {
    const Samples batch = images(i % 2 == 0 ? 16 : 11, 3, 96);
    engine->step(batch.batch, order(i, 0, 0));
    engine->take_training_sums();
  }
  const memory::CpuUsage usage = memory::cpu_usage();
  const double held = static_cast<double>(usage.held_bytes) /
      static_cast<double>(usage.peak_bytes);
  RecordProperty("held", cat(held));
  EXPECT_LT(held, 1.15);
}

} // namespace
} // namespace temper::train
