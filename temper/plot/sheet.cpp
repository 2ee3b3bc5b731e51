#include "temper/plot/sheet.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/plot/style.h"

namespace temper::plot {
namespace {

constexpr double kGap = 10;
constexpr double kLine = 14; // of a caption

void draw_tile(Canvas& canvas, const Box& box, const Tile& tile) {
  const double side = box.width;
  if (tile.width == 0) {
    canvas.fill({box.left, box.top, side, side}, kGrid);
    const LineStyle cross{kQuiet, 1.5};
    canvas.line(
        {{box.left, box.top}, {box.left + side, box.top + side}}, cross);
    canvas.line(
        {{box.left + side, box.top}, {box.left, box.top + side}}, cross);
  } else {
    check(
        tile.rgb.size() ==
            static_cast<std::size_t>(tile.width) *
                static_cast<std::size_t>(tile.height) * 3,
        "a tile has all its pixels");
    const double scale = side / std::max(tile.width, tile.height);
    const double width = tile.width * scale;
    const double height = tile.height * scale;
    canvas.picture(
        {box.left + (side - width) / 2,
         box.top + (side - height) / 2,
         width,
         height},
        tile.rgb.data(),
        tile.width,
        tile.height);
  }
  const TextStyle style{kTickSize, tile.alarm ? kAlarm : kInk, Align::centre};
  double baseline = box.top + side + kLine;
  for (const std::string& line : tile.caption) {
    canvas.text(
        {box.left + side / 2, baseline},
        canvas.fitting(line, side + kGap - 2, style),
        style);
    baseline += kLine;
  }
}

} // namespace

Drawing sheet(std::vector<Tile> tiles, int columns, double side) {
  check(columns > 0 && side > 0, "a sheet has columns");
  std::size_t lines = 1;
  for (const Tile& tile : tiles)
    lines = std::max(lines, tile.caption.size());
  const auto across = static_cast<std::size_t>(columns);
  const std::size_t rows = (tiles.size() + across - 1) / across;
  const double step = side + kGap;
  const double drop = side + kLine * static_cast<double>(lines) + kGap;
  const double width =
      kGap + step * static_cast<double>(std::min(across, tiles.size()));
  const double height = kGap + drop * static_cast<double>(rows);
  return {width, height, [=, tiles = std::move(tiles)](Canvas& canvas) {
            canvas.fill({0, 0, width, height}, kPaper);
            for (std::size_t i = 0; i < tiles.size(); ++i)
              draw_tile(
                  canvas,
                  {kGap + step * static_cast<double>(i % across),
                   kGap + drop * static_cast<double>(i / across),
                   side,
                   drop},
                  tiles[i]);
          }};
}

} // namespace temper::plot
