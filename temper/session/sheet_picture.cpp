#include "temper/session/sheet_picture.h"

#include "temper/plot/sheet.h"

namespace temper::session {
namespace {

constexpr double kSide = 112;

// Grey pixels become three equal parts.
plot::Tile tile_of(const data::Image& image) {
  plot::Tile tile;
  tile.width = image.width();
  tile.height = image.height();
  const int channels = image.channels();
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < 3; ++c)
        tile.rgb.push_back(
            image.row(y)[x * channels + (channels == 1 ? 0 : c)]);
  return tile;
}

} // namespace

Caption label_caption(const data::SheetSample& sample) {
  return {{sample.label}, false};
}

plot::Drawing sheet_picture(
    const std::vector<data::SheetSample>& samples,
    int columns,
    const std::function<Caption(const data::SheetSample&)>& caption) {
  std::vector<plot::Tile> tiles;
  for (const data::SheetSample& sample : samples) {
    plot::Tile tile = tile_of(sample.image);
    const Caption below =
        tile.width == 0 ? Caption{{"cannot be read"}, true} : caption(sample);
    tile.caption = below.lines;
    tile.alarm = below.alarm;
    tiles.push_back(std::move(tile));
  }
  return plot::sheet(std::move(tiles), columns, kSide);
}

} // namespace temper::session
