#include "temper/machine/linux/linux_mounts.h"

#include <gtest/gtest.h>

namespace temper::machine {
namespace {

constexpr const char* kMounts =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "30 27 0:27 / /home rw shared:7 master:2 - btrfs /dev/sdb rw,space_cache\n"
    "31 27 0:28 / /home/an\\040ne rw - nfs4 server:/anne rw\n"
    "32 27 0:29 / /data rw - xfs /dev/sdc rw\n"
    "33 27 0:30 / /data rw - tmpfs tmpfs rw\n";

TEST(LinuxMounts, TheDeepestMountHoldsThePath) {
  const auto mounts = parse_mountinfo(kMounts);
  ASSERT_EQ(mounts.size(), 5U);
  EXPECT_EQ(filesystem_type(mounts, "/"), "ext4");
  EXPECT_EQ(filesystem_type(mounts, "/var/runs"), "ext4");
  EXPECT_EQ(filesystem_type(mounts, "/home"), "btrfs");
  EXPECT_EQ(filesystem_type(mounts, "/home/bob"), "btrfs");
  EXPECT_EQ(filesystem_type(mounts, "/homework"), "ext4");
}

TEST(LinuxMounts, BlanksInAMountPointAreOctal) {
  const auto mounts = parse_mountinfo(kMounts);
  EXPECT_EQ(filesystem_type(mounts, "/home/an ne/runs"), "nfs4");
}

TEST(LinuxMounts, TheLaterMountCoversTheEarlierOnTheSamePoint) {
  EXPECT_EQ(filesystem_type(parse_mountinfo(kMounts), "/data/x"), "tmpfs");
}

TEST(LinuxMounts, BrokenLinesAreLeftOut) {
  EXPECT_TRUE(parse_mountinfo("").empty());
  EXPECT_TRUE(parse_mountinfo("27 1 254:0 / /").empty());
  EXPECT_TRUE(parse_mountinfo("27 1 254:0 / / rw,relatime -").empty());
  EXPECT_TRUE(parse_mountinfo("27 1 254:0 / / rw,relatime shared:1").empty());
  EXPECT_TRUE(parse_mountinfo(std::string(1000, '\0')).empty());
  EXPECT_EQ(filesystem_type({}, "/"), "");
}

} // namespace
} // namespace temper::machine
