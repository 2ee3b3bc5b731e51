#include "temper/base/digest/md5.h"

#include <gtest/gtest.h>

namespace temper {
namespace {

// The RFC's own test suite.
TEST(Md5, GivesTheSumsOfTheStandard) {
  EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(
      md5_hex("1234567890123456789012345678901234567890123456789012345678901234"
              "5678901234567890"),
      "57edf4a22be3c955ac49da2e2107b67a");
}

} // namespace
} // namespace temper
