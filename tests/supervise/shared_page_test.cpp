#include "temper/supervise/shared_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace temper::supervise {
namespace {

TEST(SharedPage, WhatOneWritesTheOtherReads) {
  auto mine = SharedPage::make();
  ASSERT_TRUE(mine);
  EXPECT_EQ(::fcntl(mine->descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  const int handed = ::dup(mine->descriptor());
  auto theirs = SharedPage::open(handed);
  ASSERT_TRUE(theirs);
  EXPECT_NE(theirs->data(), mine->data());
  EXPECT_NE(::fcntl(handed, F_GETFD) & FD_CLOEXEC, 0);
  std::strcpy(static_cast<char*>(theirs->data()), "step 12");
  EXPECT_STREQ(static_cast<const char*>(mine->data()), "step 12");
}

TEST(SharedPage, WhatIsNoneIsRefused) {
  EXPECT_FALSE(SharedPage::open(-1));
  EXPECT_FALSE(SharedPage::open(987));
  const int other = ::open("/dev/null", O_RDWR);
  EXPECT_FALSE(SharedPage::open(other));
  ::close(other);
}

} // namespace
} // namespace temper::supervise
