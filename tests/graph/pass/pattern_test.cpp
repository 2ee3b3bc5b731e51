#include <gtest/gtest.h>

#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

TEST(Pattern, AStarStandsForAnyTextEvenNone) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "fc.weight"));
  EXPECT_TRUE(matches("features.*", "features.0.weight"));
  EXPECT_TRUE(matches("features.*", "features."));
  EXPECT_FALSE(matches("features.*", "features"));
  EXPECT_FALSE(matches("features.*", "my.features.0"));
  EXPECT_TRUE(matches("layer*.*", "layer1.0"));
  EXPECT_TRUE(matches("*.bn*.weight", "layer1.0.bn2.weight"));
  EXPECT_FALSE(matches("*.bn*.weight", "layer1.0.bn2.bias"));
}

TEST(Pattern, AllElseStandsForItself) {
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a.b", "axb"));
  EXPECT_FALSE(matches("a?", "ab"));
  EXPECT_FALSE(matches("fc", "fc.weight"));
  EXPECT_FALSE(matches("weight", "fc.weight"));
}

TEST(Pattern, ALaterStarMayHaveToGiveTextBack) {
  EXPECT_TRUE(matches("*a*b", "aXbaYb"));
  EXPECT_TRUE(matches("*ab", "aab"));
  EXPECT_FALSE(matches("*ab", "aba"));
}

TEST(Pattern, ManyStarsAreNotSlow) {
  std::string pattern;
  for (int i = 0; i < 40; ++i)
    pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(2000, 'a')));
}

} // namespace
} // namespace temper::graph
