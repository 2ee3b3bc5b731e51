// Steps take the memory that the steps before them gave back: once they are
// warm, the system is asked for no more pages.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

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

// A network and its batch.
struct Warmed {
  std::string name;
  Sample sample;
  Samples batch;
};

// Images of 96 x 96 make activations of 60 MB and more: 30 large pages or
// 15,000 small ones.
Warmed warmed(const std::string& name) {
  constexpr int kPixels = 32;
  if (name == "mobilenet_v2" || name == "mobilenet_v2_stock")
    return {name, mobilenet(name == "mobilenet_v2"), images(32, 3, 96)};
  if (name == "mlp") { // trained without autograd
    Sample sample = table(sgd());
    sample.fused = true;
    sample.zoo.channels = 256;
    sample.zoo.widths = {512};
    return {name, sample, rows(8192, 256)};
  }
  Sample sample = pictures(sgd(), name);
  sample.fused = true;
  sample.zoo.stem = "";
  sample.zoo.width = 1;
  sample.zoo.image_size = kPixels;
  sample.channels_last = name == "resnet18";
  return {name, sample, images(16, 3, kPixels)};
}

// The faults of a step: the median of several, since the system has some of its
// own and a thread that was not run before may come late to its working memory.
std::int64_t faults_of_a_step(Engine& engine, const data::HostBatch& batch) {
  constexpr int kWarm = 5;
  constexpr int kSteps = 9;
  std::vector<std::int64_t> faults;
  for (int i = 0; i < kWarm + kSteps; ++i) {
    const std::int64_t before = page_faults();
    engine.step(batch, order(i, 0, 0));
    engine.report();
    engine.take_training_sums();
    if (i >= kWarm) faults.push_back(page_faults() - before);
  }
  std::nth_element(faults.begin(), faults.begin() + kSteps / 2, faults.end());
  return faults[kSteps / 2];
}

class PageFaults : public testing::TestWithParam<std::string> {
 protected:
  PageFaults() {
    memory::install_cpu_allocator();
    memory::trim_cpu_pool();
  }
  ~PageFaults() override {
    memory::recycle_cpu_blocks(true);
  }
};

TEST_P(PageFaults, AreNoneOnceStepsAreWarm) {
#ifndef __linux__
  GTEST_SKIP() << "counts what Linux counts.";
#endif
  const Warmed network = warmed(GetParam());
  const auto engine = network.sample.engine();
  const std::int64_t warm = faults_of_a_step(*engine, network.batch.batch);
  RecordProperty("faults", cat(warm));
  // Some are the system's own: clocks, threads that sleep and wake.
  EXPECT_LT(warm, 20);
  // A step without autograd has tensors of its own and takes no others.
  if (network.name == "mlp") return;
  // Without memory that waits there are many: this test can fail.
  memory::recycle_cpu_blocks(false);
  EXPECT_GT(faults_of_a_step(*engine, network.batch.batch), warm + 20);
}

INSTANTIATE_TEST_SUITE_P(
    OfNetworks,
    PageFaults,
    testing::Values(
        "mobilenet_v2_stock",
        "mobilenet_v2",
        "resnet18",
        "vit_tiny",
        "mlp"),
    [](const auto& each) { return each.param; });

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
