// Pictures are read back with libpng, which did not make their pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>

#include "temper/base/error.h"
#include "temper/plot/axis.h"
#include "temper/plot/chart.h"
#include "temper/plot/heat_map.h"
#include "temper/plot/sheet.h"

namespace temper::plot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;

  std::array<int, 3> at(double x, double y) const {
    const auto place = static_cast<std::size_t>(
        (static_cast<int>(y) * width + static_cast<int>(x)) * 3);
    return {rgb.at(place), rgb.at(place + 1), rgb.at(place + 2)};
  }
  // How many pixels are darker than a grey.
  std::int64_t dark(const Box& box, int grey = 128) const {
    std::int64_t found = 0;
    for (double y = box.top; y < box.bottom(); ++y)
      for (double x = box.left; x < box.right(); ++x)
        found += at(x, y)[0] < grey ? 1 : 0;
    return found;
  }
};

Pixels decoded(const std::string& file) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(
      png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  image.format = PNG_FORMAT_RGB;
  Pixels read;
  read.width = static_cast<int>(image.width);
  read.height = static_cast<int>(image.height);
  read.rgb.resize(PNG_IMAGE_SIZE(image));
  EXPECT_NE(
      png_image_finish_read(&image, nullptr, read.rgb.data(), 0, nullptr), 0);
  return read;
}

std::vector<std::string> texts(const std::vector<Tick>& all) {
  std::vector<std::string> shown;
  for (const Tick& tick : all)
    shown.push_back(tick.text);
  return shown;
}

TEST(Axis, HasRoundNumbersWithTheSameDecimals) {
  EXPECT_THAT(
      texts(ticks(0, 1, 5)),
      ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(texts(ticks(3, 47, 4)), ElementsAre("20", "40"));
  EXPECT_THAT(texts(ticks(-1, 1, 2)), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(
      texts(ticks(0, 3e9, 3)), ElementsAre("0", "1e+09", "2e+09", "3e+09"));
  EXPECT_THROW(ticks(1, 1, 5), Bug);
  EXPECT_THROW(ticks(0, std::nan(""), 5), Bug);
}

TEST(Axis, HasPowersOfTenWhenItIsLogarithmic) {
  EXPECT_THAT(
      texts(log_ticks(0.9, 1100)), ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(texts(log_ticks(1, 10)), ElementsAre("1", "2", "5", "10"));
  EXPECT_LE(log_ticks(1e-300, 1e300).size(), 8U);
}

Chart two_lines() {
  return {
      "Loss",
      "epoch",
      "nats",
      {{"training", {1, 2, 3}, {3, 2, 1}, 0},
       {"validation", {1, 2, 3}, {3, std::nan(""), 2.5}, 1}}};
}

TEST(Charts, OneDrawingIsAPngAndAnSvg) {
  const Drawing drawing = charts({two_lines(), two_lines()});
  const Pixels pixels = decoded(as_png(drawing, 1));
  EXPECT_EQ(pixels.width, static_cast<int>(drawing.width));
  EXPECT_EQ(pixels.at(0, 0), (std::array<int, 3>{255, 255, 255}));
  EXPECT_GT(pixels.dark({0, 0, drawing.width, drawing.height}), 500);
  const std::string svg = as_svg(drawing);
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_THAT(svg, ::testing::Not(HasSubstr("nan")));
}

TEST(Charts, MayHaveALogarithmicAxisBelowThem) {
  Chart chart = two_lines();
  chart.log_x = true;
  chart.series[0].x = {1, 32, 1000};
  EXPECT_THAT(as_svg(charts({chart})), HasSubstr("<svg"));
  chart.series[0].x = {0, 1, 2};
  EXPECT_THROW(as_svg(charts({chart})), Bug);
}

TEST(Charts, StandWhatTrainingGives) {
  for (const std::vector<double>& values :
       {std::vector<double>{},
        {1},
        {0, 0, 0},
        {std::nan(""), std::nan("")},
        {HUGE_VAL, -HUGE_VAL, 1},
        {1e38, 1e-38, -1e38}})
    for (const bool log : {false, true}) {
      Chart chart = two_lines();
      chart.log_y = log;
      chart.series[0].y = values;
      chart.series[0].x.resize(values.size());
      EXPECT_THAT(as_png(charts({chart})), SizeIs(::testing::Gt(1000U)));
    }
}

TEST(HeatMaps, ShadeACellByItsShareOfTheRow) {
  HeatMap map{"t", "r", "c", "s", {"cat", "dog"}, {90, 10, 0, 7}};
  const Drawing drawing = heat_map(map);
  const Pixels pixels = decoded(as_png(drawing, 1));
  // Cells are 46 points from the margin on; numbers stand in their middle.
  const double left = drawing.width - (24 + 14 + 70) - 2 * 46;
  const auto red = [&](int row, int column) {
    return pixels.at(left + 46 * column + 4, 56 + 46 * row + 4)[0];
  };
  EXPECT_LT(red(0, 0), red(0, 1));
  EXPECT_LT(red(1, 1), red(0, 0));
  EXPECT_GT(red(1, 0), 250);
}

TEST(HeatMaps, AreAsWideAsTheirTitle) {
  HeatMap map{"", "r", "c", "s", {"cat", "dog"}, {90, 10, 0, 7}};
  map.title = "Confusion matrix of the validation set WWWWWWWWWWW";
  const Pixels pixels = decoded(as_png(heat_map(map), 1));
  const double width = pixels.width;
  EXPECT_GT(pixels.dark({width / 2, 8, width / 2, 20}), 0);
  EXPECT_EQ(pixels.dark({width - 3, 8, 3, 20}), 0);
}

TEST(HeatMaps, AreThereForAnyNumberOfClassesAndAnyNames) {
  for (const std::size_t count : {1U, 2U, 10U, 300U}) {
    HeatMap map{"t", "r", "c", "s", {}, {}};
    for (std::size_t i = 0; i < count; ++i)
      map.names.push_back(i % 2 == 0 ? std::string(60, 'x') : "\xFF\x1B\n");
    map.counts.assign(count * count, 1);
    const Pixels pixels = decoded(as_png(heat_map(map), 1));
    EXPECT_GE(pixels.width, 100);
    EXPECT_LE(pixels.width, 4000);
  }
}

TEST(Sheets, GrowPixelsToBlocksAndCaptionThem) {
  Tile tile{2, 1, {255, 0, 0, 0, 0, 255}, {"left and right"}};
  Tile missing;
  missing.caption = {"cannot be read"};
  const Drawing drawing = sheet({tile, missing}, 2, 100);
  const Pixels pixels = decoded(as_png(drawing, 1));
  EXPECT_EQ(pixels.at(10 + 2, 10 + 50), (std::array<int, 3>{255, 0, 0}));
  EXPECT_EQ(pixels.at(10 + 97, 10 + 50), (std::array<int, 3>{0, 0, 255}));
  EXPECT_EQ(pixels.at(10 + 2, 10 + 5), (std::array<int, 3>{255, 255, 255}));
  EXPECT_GT(pixels.dark({10, 110, 100, 18}), 20); // the caption
  EXPECT_GT(pixels.dark({120, 10, 100, 100}), 50); // the cross
}

TEST(Sheets, ShortenACaptionThatIsTooLong) {
  const Drawing drawing =
      sheet({Tile{1, 1, {9, 9, 9}, {std::string(500, 'm')}}}, 1, 80);
  const Pixels pixels = decoded(as_png(drawing, 1));
  EXPECT_EQ(pixels.dark({0, 94, 4, 12}), 0); // it stays on the sheet
  EXPECT_GT(pixels.dark({10, 90, 80, 18}), 20);
}

} // namespace
} // namespace temper::plot
