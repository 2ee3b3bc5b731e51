// What a loader is busy with, asked from outside while it is stuck.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "temper/base/text.h"
#include "temper/data/loader/loader.h"
#include "temper/data/loader/stream_loader.h"

namespace temper::data {
namespace {

SourceInfo numbers() {
  SourceInfo info;
  info.name = "rows";
  info.input = Input::numbers;
  info.target = Target::numbers;
  info.shape = {1};
  info.target_size = 1;
  return info;
}

void fill(Sample& sample) {
  sample.numbers = {1};
  sample.target_numbers = {1};
}

void until(const std::function<bool()>& holds) {
  while (!holds())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class StuckSource final : public IndexedSource {
 public:
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return 12;
  }
  void read(std::int64_t index, Sample& sample) const override {
    if (index == 5) until([&] { return released.load(); });
    fill(sample);
  }
  std::string describe(std::int64_t index) const override {
    return cat("row ", index, ".csv");
  }
  std::uint64_t fingerprint() const override {
    return 1;
  }
  mutable std::atomic<bool> released{false};

 private:
  SourceInfo info_ = numbers();
};

TEST(InHand, TheSampleThatDoesNotComeIsNamed) {
  const auto source = std::make_shared<StuckSource>();
  LoaderOptions options;
  options.batch = 12;
  options.workers = 2;
  options.depth = 1;
  options.shuffle = false;
  Loader loader(source, nullptr, options);
  EXPECT_EQ(loader.in_hand(), "");
  loader.start(0);
  until([&] { return loader.in_hand() == "row 5.csv (sample 5)"; });
  source->released = true;
  EXPECT_NE(loader.next(), nullptr);
  EXPECT_EQ(loader.next(), nullptr);
  until([&] { return loader.in_hand().empty(); });
}

class StuckStream final : public StreamSource {
 public:
  explicit StuckStream(std::atomic<bool>& released) : released_(released) {}
  const SourceInfo& info() const override {
    return info_;
  }
  void restart(std::uint64_t, std::uint32_t) override {
    next_ = 0;
  }
  bool next(Sample& sample) override {
    if (next_ == 3) until([&] { return released_.load(); });
    fill(sample);
    return ++next_ <= 4;
  }

 private:
  SourceInfo info_ = numbers();
  std::atomic<bool>& released_;
  int next_ = 0;
};

TEST(InHand, SoIsThatOfAStream) {
  std::atomic<bool> released{false};
  LoaderOptions options;
  options.batch = 4;
  StreamLoader loader(
      std::make_unique<StuckStream>(released), nullptr, options);
  loader.start(0);
  until([&] { return loader.in_hand() == "sample 4 of rows"; });
  released = true;
  EXPECT_NE(loader.next(), nullptr);
}

} // namespace
} // namespace temper::data
