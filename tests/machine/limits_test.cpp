#include "temper/machine/limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <limits>

#include "fake_root.h"
#include "temper/machine/disk.h"
#include "tests/emulator.h"

namespace temper::machine {
namespace {

// Lowers the soft limit for one test; only the soft one can be put back.
class OpenFileLimit : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &saved_), 0);
  }
  void TearDown() override {
    setrlimit(RLIMIT_NOFILE, &saved_);
  }
  void set_soft(rlim_t soft) const {
    rlimit limit = saved_;
    limit.rlim_cur = soft;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  rlimit saved_{};
};

TEST_F(OpenFileLimit, IsRaisedToTheTarget) {
  set_soft(256);
  EXPECT_EQ(open_files().soft, 256U);
  const auto raised = raise_open_files(300);
  EXPECT_EQ(raised.before.soft, 256U);
  EXPECT_EQ(raised.after.soft, 300U);
  EXPECT_EQ(raised.after.hard, raised.before.hard);
  EXPECT_EQ(open_files().soft, 300U);
}

TEST_F(OpenFileLimit, IsNeverLowered) {
  set_soft(256);
  EXPECT_EQ(raise_open_files(100).after.soft, 256U);
  EXPECT_EQ(open_files().soft, 256U);
}

TEST_F(OpenFileLimit, StopsAtTheHardLimit) {
  if (saved_.rlim_max == RLIM_INFINITY) GTEST_SKIP() << "no hard limit";
  set_soft(256);
  const auto raised =
      raise_open_files(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(raised.after.soft, raised.before.hard);
}

TEST(AddressSpaceLimit, IsReadAndNothingWhenUnlimited) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator sets no such limit";
  rlimit saved{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &saved), 0);
  EXPECT_EQ(address_space_limit().has_value(), saved.rlim_cur != RLIM_INFINITY);
  rlimit limited = saved;
  limited.rlim_cur = rlim_t{1} << 46; // so high that nothing breaks
  if (setrlimit(RLIMIT_AS, &limited) != 0) GTEST_SKIP() << "not settable";
  EXPECT_EQ(address_space_limit(), std::uint64_t{1} << 46);
  setrlimit(RLIMIT_AS, &saved);
}

TEST(Disk, TheNearestExistingParentIsFound) {
  FakeRoot root;
  root.write("/a/file", "");
  EXPECT_EQ(nearest_existing(root.at("/a")), root.at("/a"));
  EXPECT_EQ(nearest_existing(root.at("/a/b/c/d")), root.at("/a"));
  EXPECT_EQ(nearest_existing("/"), "/");
  EXPECT_EQ(nearest_existing("/no such directory/x"), "/");
  EXPECT_TRUE(nearest_existing("not here/at all").is_absolute());
}

TEST(Disk, ADanglingLinkIsNotThere) {
  FakeRoot root;
  std::filesystem::create_symlink("/no such target", root.at("/link"));
  EXPECT_EQ(nearest_existing(root.at("/link/runs")), root.path());
}

TEST(Disk, SpaceIsThatOfTheParentAndThePathIsTheOneAskedFor) {
  FakeRoot root;
  const Disk here = disk_space(root.path());
  const Disk later = disk_space(root.at("/runs/x/../today"));
  EXPECT_GT(here.total_bytes, 0U);
  EXPECT_LE(here.free_bytes, here.total_bytes);
  EXPECT_EQ(later.total_bytes, here.total_bytes);
  EXPECT_EQ(later.path, root.at("/runs/today").string());
  EXPECT_EQ(disk_space(".").path, std::filesystem::current_path().string());
  EXPECT_EQ(disk_space("").path, std::filesystem::current_path().string());
  EXPECT_EQ(disk_space("/").path, "/");
}

} // namespace
} // namespace temper::machine
