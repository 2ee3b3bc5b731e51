#include "temper/train/schedule/lr_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::train {
namespace {

TEST(LrScale, TheLastPatternThatFitsDecides) {
  const auto scales =
      parse_lr_scales({"features.*=0.1", "features.18.*=0.5", "*.bias = 2"});
  EXPECT_EQ(lr_factor(scales, "classifier.1.weight"), 1);
  EXPECT_EQ(lr_factor(scales, "features.0.0.weight"), 0.1);
  EXPECT_EQ(lr_factor(scales, "features.18.0.weight"), 0.5);
  EXPECT_EQ(lr_factor(scales, "features.18.1.bias"), 2);
}

TEST(LrScale, WhatIsNoFactorIsRefused) {
  for (const char* wrong : {"features.*", "=0.1", "a=", "a=x", "a=-1", "a=nan"})
    EXPECT_THROW(parse_lr_scales({wrong}), Error) << wrong;
}

TEST(LrScale, APatternThatFitsNothingIsToldWithTheNearestName) {
  const std::vector<std::string> names{"fc.weight", "fc.bias"};
  check_lr_scales(parse_lr_scales({"fc.*=0.1"}), names);
  try {
    check_lr_scales(parse_lr_scales({"fc.weigth=0.1"}), names);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), ::testing::HasSubstr("fc.weight"));
  }
}

} // namespace
} // namespace temper::train
