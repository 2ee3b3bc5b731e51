#include "temper/kernels/resize.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/kernels/vector_units.h"

namespace temper::kernels {
namespace {

struct Case {
  int width, height, channels, out_width, out_height;
  Filter filter;
};

// Each row has bytes of other pixels behind it, as a crop has.
void expect_as_reference(const Case& c, ResizeScratch& scratch) {
  const auto row = static_cast<std::size_t>(c.width * c.channels + 5);
  std::vector<std::uint8_t> pixels(
      row * static_cast<std::size_t>(c.height) + Window::kReadAhead);
  std::mt19937 random(static_cast<unsigned>(c.width * 1000 + c.height));
  // Extremes side by side, where bicubic overshoots and must be clipped.
  for (auto& p : pixels) {
    p = static_cast<std::uint8_t>(random() % 3 == 0 ? 255 : random() % 256);
  }
  const Window in{pixels.data(), row, c.width, c.height, c.channels};
  const auto bytes =
      static_cast<std::size_t>(c.out_width * c.out_height * c.channels);
  std::vector<std::uint8_t> expected(bytes);
  std::vector<std::uint8_t> actual(bytes + 1, 0xA5);
  resize_reference(in, c.out_width, c.out_height, c.filter, expected.data());
  resize(in, c.out_width, c.out_height, c.filter, actual.data(), scratch);
  EXPECT_EQ(actual.back(), 0xA5) << "wrote behind the last pixel";
  actual.pop_back();
  EXPECT_EQ(actual, expected) << c.width << "x" << c.height << "x" << c.channels
                              << " to " << c.out_width << "x" << c.out_height;
}

TEST(Resize, GivesTheReferencesBytesOnEveryVectorUnit) {
  on_every_vector_unit([] {
    ResizeScratch scratch;
    for (const auto filter :
         {Filter::nearest, Filter::bilinear, Filter::bicubic}) {
      for (const int channels : {1, 3}) {
        for (const auto [w, h, ow, oh] :
             {std::array{1, 1, 5, 7},
              // Fewer rows and pixels than are worked on at once.
              std::array{9, 3, 4, 5},
              std::array{20, 2, 6, 9},
              std::array{8, 5, 3, 4},
              std::array{5, 7, 9, 2},
              std::array{37, 23, 64, 48},
              std::array{64, 48, 37, 23},
              std::array{130, 90, 7, 11},
              std::array{50, 40, 50, 33},
              std::array{50, 40, 33, 40},
              std::array{50, 40, 50, 40},
              std::array{300, 2, 1, 1},
              std::array{224, 224, 224, 224},
              std::array{120, 171, 224, 224}}) {
          expect_as_reference({w, h, channels, ow, oh, filter}, scratch);
        }
      }
    }
  });
}

TEST(Resize, WeightsAreReusedAndNeverMixedUp) {
  ResizeScratch scratch;
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const auto size = [&] { return static_cast<int>(random() % 90) + 1; };
    const auto filter = random() % 2 == 0 ? Filter::bilinear : Filter::bicubic;
    expect_as_reference({size(), size(), 3, size(), size(), filter}, scratch);
  }
}

TEST(Resize, TablesTooLargeToKeepAreStillRight) {
  ResizeScratch scratch;
  expect_as_reference({4000, 5000, 1, 600, 700, Filter::bicubic}, scratch);
}

} // namespace
} // namespace temper::kernels
