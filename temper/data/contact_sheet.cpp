#include "temper/data/contact_sheet.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "temper/base/error.h"
#include "temper/base/philox.h"
#include "temper/base/text.h"
#include "temper/data/bitmap_font.h"
#include "temper/data/order.h"

namespace temper::data {
namespace {

constexpr int kGap = 8;
constexpr int kLetterScale = 2;
constexpr int kStrip = (kLetterHeight + 4) * kLetterScale; // below each tile
constexpr std::uint8_t kBackground = 24;
constexpr Colour kInk{225, 225, 225};
constexpr Colour kAlarm{235, 64, 52};

// A whole factor up (each pixel a block, so that it can be judged), or down by
// nearest neighbour.
void place_tile(const Image& from, Image& sheet, int x, int y, int size) {
  const int longer = std::max(from.width(), from.height());
  if (longer == 0) return;
  const int up = std::max(1, size / longer);
  const int width = longer > size ? std::max(1, from.width() * size / longer)
                                  : from.width() * up;
  const int height = longer > size ? std::max(1, from.height() * size / longer)
                                   : from.height() * up;
  const int left = x + (size - width) / 2;
  const int top = y + (size - height) / 2;
  const int channels = from.channels();
  for (int row = 0; row < height; ++row) {
    const auto* source = from.row(row * from.height() / height);
    auto* target = sheet.row(top + row) + 3 * left;
    for (int column = 0; column < width; ++column) {
      const auto* pixel = source + column * from.width() / width * channels;
      for (int c = 0; c < 3; ++c)
        *target++ = pixel[channels == 1 ? 0 : c];
    }
  }
}

std::string label_text(const SourceInfo& info, const Sample& sample) {
  switch (info.target) {
    case Target::label: {
      const auto label = static_cast<std::size_t>(sample.label);
      return label < info.classes.size() ? info.classes[label]
                                         : cat(sample.label);
    }
    case Target::numbers:
      return sample.target_numbers.empty()
          ? ""
          : decimals(static_cast<double>(sample.target_numbers[0]), 3);
    case Target::tokens:
      break;
  }
  return "";
}

} // namespace

Image contact_sheet(
    const IndexedSource& source,
    const Augment* augment,
    const SheetOptions& options) {
  const auto& info = source.info();
  if (info.input != Input::image)
    throw Error(
        cat("[data] ",
            info.name,
            " has no images to show, but ",
            to_string(info.input),
            "."));
  if (source.size() == 0)
    throw Error(cat("[data] ", info.name, " has no samples to show."));
  const int tile = options.tile_pixels;
  const std::int64_t tiles = std::min<std::int64_t>(
      std::int64_t{options.columns} * options.rows, source.size());
  const int rows =
      static_cast<int>((tiles + options.columns - 1) / options.columns);
  Image sheet(
      kGap + options.columns * (tile + kGap),
      kGap + rows * (tile + kStrip + kGap),
      3);
  std::memset(sheet.pixels(), kBackground, sheet.bytes());

  const Order order(source.size(), true, options.seed, options.epoch);
  Sample sample;
  Image spare;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t index = order.index(i);
    const int x = kGap + static_cast<int>(i % options.columns) * (tile + kGap);
    const int y =
        kGap + static_cast<int>(i / options.columns) * (tile + kStrip + kGap);
    std::string label = "unreadable";
    Colour ink = kAlarm;
    try {
      source.read(index, sample);
      const RandomStream random(
          options.seed, options.epoch, static_cast<std::uint64_t>(index));
      if (augment != nullptr)
        for (std::size_t n = 0; n < augment->transforms.size(); ++n) {
          auto own = random.substream(static_cast<std::uint8_t>(n));
          augment->transforms[n]->apply(sample.image, spare, own);
        }
      place_tile(sample.image, sheet, x, y, tile);
      label = label_text(info, sample);
      ink = kInk;
      if (options.caption) {
        const auto caption = options.caption(index);
        label = caption.text;
        if (caption.alarm) ink = kAlarm;
      }
    } catch (const BadSample&) {
      draw_text(
          sheet, "X", x + tile / 4, y + tile / 8, x + tile, tile / 10, ink);
    }
    draw_text(
        sheet,
        label,
        x,
        y + tile + 2 * kLetterScale,
        x + tile,
        kLetterScale,
        ink);
  }
  return sheet;
}

} // namespace temper::data
