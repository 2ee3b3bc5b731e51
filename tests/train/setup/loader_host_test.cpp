#include "temper/train/setup/loader_host.h"

#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/config/fields.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

class LoaderHostOfARun : public testing::Test {
 protected:
  LoaderHostOfARun() {
    machine_.cpu.logical = 64;
    machine_.cpu.usable = 64;
    machine_.memory.physical_bytes = 256 * kGib;
  }
  data::LoaderOptions options() const {
    RunData data;
    data.host = loader_host(config_, machine_, environment_);
    return loader_options(data, config_, {}, true);
  }

  machine::Machine machine_;
  config::Config config_;
  Environment environment_{{"TEMPER_CACHE_DIR", "/cache"}};
};

TEST_F(LoaderHostOfARun, LeavesTheLoaderTheCoresOfAContainersQuota) {
  EXPECT_EQ(options().cores, 64);
  machine_.cpu.usable = 2.5;
  EXPECT_EQ(options().cores, 2);
  machine_.cpu.usable = 0.5;
  EXPECT_EQ(options().cores, 1);
}

TEST_F(LoaderHostOfARun, LeavesTheLoaderAPartOfTheMemoryOfAContainer) {
  EXPECT_EQ(options().memory_bytes, kGib / 2);
  machine_.memory.limit_bytes = 2 * kGib;
  EXPECT_EQ(options().memory_bytes, 2 * kGib / 20);
  config_.loader.memory.bytes = kGib;
  EXPECT_EQ(options().memory_bytes, kGib) << "as asked";
}

TEST_F(LoaderHostOfARun, RemembersTuningsWherePlansAreRemembered) {
  EXPECT_EQ(options().tuning_file, "/cache/loader.json");
  const std::string here = options().machine_key;
  EXPECT_NE(here, "");
  machine_.cpu.usable = 2;
  EXPECT_NE(options().machine_key, here);
  config_.plan.cache = "off";
  EXPECT_EQ(options().tuning_file, "");
  config_.plan.cache = "on";
  config_.device = "sim";
  EXPECT_EQ(options().tuning_file, "");
  config_.device = "cpu";
  environment_ = {};
  EXPECT_EQ(options().tuning_file, "");
}

// What the config lets pass, the loader takes, and nothing more.
TEST_F(LoaderHostOfARun, TheRangesOfTheConfigAreThoseOfTheLoader) {
  const auto data = open_data(
      [] {
        config::Config made;
        made.data.source = "synthetic:images=8,size=4,classes=2";
        return made;
      }(),
      {},
      kGib);
  const auto takes = [&](int workers, int depth) {
    data::LoaderOptions options;
    options.batch = 1;
    options.workers = workers;
    options.depth = depth;
    try {
      indexed_batches(data.train, data.augment, options);
    } catch (const Error&) {
      return false;
    }
    return true;
  };
  const config::Field& workers = *config::find_field("loader.workers");
  const config::Field& depth = *config::find_field("loader.depth");
  EXPECT_EQ(workers.low, 1);
  EXPECT_EQ(depth.low, 1);
  const int most_workers = static_cast<int>(workers.high);
  const int most_depth = static_cast<int>(depth.high);
  EXPECT_TRUE(takes(most_workers, most_depth));
  EXPECT_FALSE(takes(most_workers + 1, most_depth));
  EXPECT_FALSE(takes(most_workers, most_depth + 1));
}

} // namespace
} // namespace temper::train
