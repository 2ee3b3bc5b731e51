#include "temper/data/sample/image.h"

#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::data {
namespace {

TEST(Image, MemoryIsKeptWhenItShrinks) {
  Image image(100, 50, 3);
  EXPECT_EQ(image.bytes(), 15000U);
  EXPECT_EQ(image.row(1) - image.row(0), 300);
  const auto* pixels = image.pixels();
  image.reshape(10, 10, 1);
  EXPECT_EQ(image.pixels(), pixels);
  EXPECT_EQ(image.bytes(), 100U);
}

TEST(Image, OfImpossibleShapeIsABug) {
  EXPECT_THROW(Image(-1, 2, 3), Bug);
  EXPECT_THROW(Image(1, 2, 4), Bug);
}

} // namespace
} // namespace temper::data
