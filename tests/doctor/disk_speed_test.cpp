#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "temper/doctor/evidence.h"
#include "tests/temp_folder.h"

namespace temper::doctor {
namespace {

namespace fs = std::filesystem;

class DiskSpeedTest : public testing::Test {
 protected:
  tests::TempFolder temp_;
  const fs::path& directory_ = temp_.path();
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
