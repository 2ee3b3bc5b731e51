// A long run over images of every size: neither memory nor open files grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "images.h"
#include "temper/base/environment.h"
#include "temper/base/text.h"
#include "temper/supervise/system.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Point {
  double time_s = 0;
  double value = 0;
};

// Theil and Sen: the median of the slopes between all pairs, which a few odd
// values do not move.
double slope_per_s(const std::vector<Point>& points) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = i + 1; j < points.size(); ++j)
      slopes.push_back(
          (points[j].value - points[i].value) /
          (points[j].time_s - points[i].time_s));
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<long>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

TEST(Slope, OddValuesDoNotMoveIt) {
  std::vector<Point> points;
  for (int i = 0; i < 100; ++i)
    points.push_back({1.0 * i, 3.0 * i + (i % 10 == 0 ? 500 : 0)});
  EXPECT_NEAR(slope_per_s(points), 3, 0.1);
}

double open_files(pid_t pid) {
  std::error_code failed;
  const fs::directory_iterator files(cat("/proc/", pid, "/fd"), failed);
  return static_cast<double>(std::distance(begin(files), end(files)));
}

// A run over images of every size that does not end by itself.
class Soak : public testing::Test {
 protected:
  Soak() {
    write_small_network(folder_ / "net.pt2");
    write_images(folder_ / "images", 1'000, 8, 120);
    run_.folder = folder_.path();
    run_.name = "soak";
    run_.data = "folder:" + folder_.text("images");
    run_.steps = 1'000'000'000;
    run_.set = {
        "data.augment=imagenet",
        "data.image_size=8",
        "train.epochs=1000000",
        "train.log_every=50",
        "checkpoint.every_steps=200"};
  }

  tests::TempFolder folder_;
  SmallRun run_;
};

// Counted by steps, so that a busy machine makes it longer and no coarser.
TEST_F(Soak, AThousandStepsKeepNeitherMemoryNorOpenFiles) {
  constexpr std::int64_t kSteps = 1'000;
  // A step decodes a batch of some 200 kB; who keeps a tenth of it is seen.
  constexpr double kMostBytes = 20e6;
  Training training(run_);
  ASSERT_TRUE(training.reach(kSteps)) << training.output(); // fills pools
  const auto trainer = training.trainer();
  ASSERT_TRUE(trainer);
  const auto most_until = [&](std::int64_t step) {
    struct Most {
      double bytes = 0;
      double files = 0;
    } most;
    while (training.last_step() < step && !training.ended()) {
      const auto bytes = supervise::memory_of(*trainer);
      most.bytes = std::max(most.bytes, static_cast<double>(bytes.value_or(0)));
      most.files = std::max(most.files, open_files(*trainer));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return most;
  };
  const auto early = most_until(2 * kSteps);
  const auto late = most_until(3 * kSteps);
  ASSERT_FALSE(training.ended()) << training.output();
  EXPECT_LE(late.bytes, early.bytes + kMostBytes);
  EXPECT_LE(late.files, early.files + 2);
}

TEST_F(Soak, NeitherMemoryNorOpenFilesGrowOverImagesOfEverySize) {
  const auto asked =
      variable(current_environment(), "SOAK_SECONDS").value_or("");
  if (!full() && asked.empty()) GTEST_SKIP() << "two hours; make torture";
  const double seconds = parse_double(asked).value_or(7200.0);
  Training training(run_);
  ASSERT_TRUE(training.reach(50)) << training.output();
  const auto trainer = training.trainer();
  ASSERT_TRUE(trainer);
  std::vector<Point> memory;
  std::vector<Point> files;
  const auto began = Clock::now();
  // The first quarter fills pools and caches.
  const double tick_s = std::clamp(seconds / 200, 0.1, 10.0);
  for (double at = 0; at < seconds;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(tick_s));
    at = std::chrono::duration<double>(Clock::now() - began).count();
    ASSERT_FALSE(training.ended()) << training.output();
    const auto bytes = supervise::memory_of(*trainer);
    ASSERT_TRUE(bytes) << "the trainer is gone\n" << training.output();
    if (at < seconds / 4) continue;
    memory.push_back({at, static_cast<double>(*bytes)});
    files.push_back({at, open_files(*trainer)});
  }
  const double mb_per_h = slope_per_s(memory) * 3600 / 1e6;
  std::vector<double> counts;
  for (const Point& point : files)
    counts.push_back(point.value);
  const auto half = counts.begin() + static_cast<long>(counts.size() / 2);
  const double early = *std::max_element(counts.begin(), half);
  const double late = *std::max_element(half, counts.end());
  RecordProperty("slope_mb_per_h", cat(mb_per_h));
  RecordProperty("cases", 1);
  // A short look is a coarse one: a page or two more in two minutes are
  // megabytes an hour.
  EXPECT_LE(mb_per_h, seconds >= 600 ? 1.0 : 100.0);
  EXPECT_LE(late, early + 2);
}

} // namespace
} // namespace temper::torture
