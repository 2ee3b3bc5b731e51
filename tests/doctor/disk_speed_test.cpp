#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "temper/doctor/evidence.h"

namespace temper::doctor {
namespace {

namespace fs = std::filesystem;

class DiskSpeedTest : public testing::Test {
 protected:
  DiskSpeedTest()
      : directory_(
            fs::temp_directory_path() /
            ("temper-disk-" + std::to_string(::getpid()))) {
    fs::create_directory(directory_);
  }
  ~DiskSpeedTest() override {
    fs::remove_all(directory_);
  }
  fs::path directory_;
};

TEST_F(DiskSpeedTest, IsMeasuredAndLeavesNothingBehind) {
  const DiskSpeed speed = measure_disk(directory_, 1 << 20, 5);
  EXPECT_EQ(speed.error, "");
  EXPECT_GT(speed.write_bytes_per_s, 0);
  EXPECT_GT(speed.fsync_s, 0);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(DiskSpeedTest, OfAPlaceThatIsNotThereIsAnError) {
  const DiskSpeed speed = measure_disk(directory_ / "absent", 1 << 20, 5);
  EXPECT_THAT(speed.error, testing::HasSubstr("cannot create a file"));
}

} // namespace
} // namespace temper::doctor
