// BMP as Windows and OS/2 write it, without run-length compression: 1, 4 and 8
// bits through a palette, 16, 24 and 32 bits direct.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "temper/base/byte_order.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode_formats.h"

namespace temper::data {
namespace {

using Colour = std::array<std::uint8_t, 3>; // red, green, blue

constexpr std::size_t kFileHeader = 14;
enum Compression : std::uint32_t { kRaw = 0, kBitfields = 3 };

struct BmpLayout {
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool top_down = false;
  int bits = 0;
  std::uint32_t compression = kRaw;
  std::array<std::uint32_t, 3> masks{}; // with kBitfields
  std::size_t palette_at = 0;
  std::size_t palette_entry = 0; // bytes
  std::size_t palette_size = 0; // entries
  std::size_t pixels_at = 0;
};

std::uint32_t u16_at(Bytes bytes, std::size_t at) {
  return read_little_endian<std::uint16_t>(bytes.data() + at);
}

std::uint32_t u32_at(Bytes bytes, std::size_t at) {
  return read_little_endian<std::uint32_t>(bytes.data() + at);
}

void need_until(Bytes bytes, std::size_t end) {
  if (bytes.size() < end) refuse_truncated(bytes);
}

BmpLayout read_bmp_layout(Bytes bytes) {
  need_until(bytes, kFileHeader + 12);
  BmpLayout layout;
  layout.pixels_at = u32_at(bytes, 10);
  const std::uint32_t header = u32_at(bytes, kFileHeader);
  if (header != 12 && header != 40 && header != 64 && header != 108 &&
      header != 124)
    refuse("a BMP of an unknown kind");
  need_until(bytes, kFileHeader + header);
  std::size_t end = kFileHeader + header;
  std::uint32_t colours = 0;
  if (header == 12) {
    layout.width = u16_at(bytes, 18);
    layout.height = u16_at(bytes, 20);
    layout.bits = static_cast<int>(u16_at(bytes, 24));
    layout.palette_entry = 3;
  } else {
    layout.width = static_cast<std::int32_t>(u32_at(bytes, 18));
    layout.height = static_cast<std::int32_t>(u32_at(bytes, 22));
    layout.top_down = layout.height < 0;
    layout.height = std::abs(layout.height);
    layout.bits = static_cast<int>(u16_at(bytes, 28));
    layout.compression = u32_at(bytes, 30);
    colours = u32_at(bytes, 46);
    layout.palette_entry = 4;
    if (layout.compression == kBitfields) {
      need_until(
          bytes, kFileHeader + 52); // inside the header, or behind a short one
      for (std::size_t i = 0; i < 3; ++i)
        layout.masks[i] = u32_at(bytes, 54 + 4 * i);
      end = std::max(end, kFileHeader + 52);
    }
  }
  if (layout.compression != kRaw && layout.compression != kBitfields)
    refuse("a compressed BMP, which is not supported");
  if (layout.bits <= 8) {
    layout.palette_at = end;
    const std::size_t all = std::size_t{1} << (layout.bits & 15);
    layout.palette_size = colours == 0 ? all : colours;
    // PIL does the same: some writers leave the palette out of the offset.
    if (layout.pixels_at == kFileHeader + header)
      layout.pixels_at += 4 * layout.palette_size;
    layout.palette_size = std::min(layout.palette_size, all);
  }
  return layout;
}

// Which byte of a pixel holds red, green and blue.
std::array<std::size_t, 3> byte_order(const BmpLayout& layout) {
  if (layout.compression == kRaw ||
      layout.masks == std::array<std::uint32_t, 3>{})
    return {2, 1, 0};
  std::array<std::size_t, 3> order{};
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t at = 0;
    while (at < 4 && layout.masks[i] != 0xFFU << (8 * at))
      ++at;
    if (at == 4 || (layout.bits == 24 && at == 3))
      refuse("a BMP of odd channel masks");
    order[i] = at;
  }
  return order;
}

void direct_row(
    const std::uint8_t* from,
    std::uint8_t* to,
    const BmpLayout& layout,
    const std::array<std::size_t, 3>& order) {
  const auto step = static_cast<std::size_t>(layout.bits / 8);
  for (std::int64_t x = 0; x < layout.width; ++x, from += step, to += 3)
    for (std::size_t i = 0; i < 3; ++i)
      to[i] = from[order[i]];
}

void sixteen_bit_row(
    const std::uint8_t* from,
    std::uint8_t* to,
    std::int64_t width,
    bool six_bits_of_green) {
  const unsigned green_bits = six_bits_of_green ? 6 : 5;
  const unsigned most_green = (1U << green_bits) - 1;
  for (std::int64_t x = 0; x < width; ++x, from += 2, to += 3) {
    const unsigned pixel = from[0] | unsigned{from[1]} << 8;
    const unsigned red = pixel >> (5 + green_bits) & 31;
    const unsigned green = pixel >> 5 & most_green;
    to[0] = static_cast<std::uint8_t>(red * 255 / 31);
    to[1] = static_cast<std::uint8_t>(green * 255 / most_green);
    to[2] = static_cast<std::uint8_t>((pixel & 31) * 255 / 31);
  }
}

// Indices that the palette lacks are shades of grey, as in PIL.
std::vector<Colour> read_palette(Bytes bytes, const BmpLayout& layout) {
  std::vector<Colour> palette(256);
  for (std::size_t i = 0; i < palette.size(); ++i)
    palette[i].fill(static_cast<std::uint8_t>(i));
  for (std::size_t i = 0; i < layout.palette_size; ++i) {
    const std::size_t at = layout.palette_at + i * layout.palette_entry;
    need_until(bytes, at + 3);
    palette[i] = {bytes[at + 2], bytes[at + 1], bytes[at]};
  }
  return palette;
}

void palette_row(
    const std::uint8_t* from,
    std::uint8_t* to,
    const BmpLayout& layout,
    const std::vector<Colour>& palette) {
  const auto bits = static_cast<std::size_t>(layout.bits);
  for (std::size_t x = 0; x < static_cast<std::size_t>(layout.width); ++x) {
    const std::size_t bit = x * bits;
    const std::size_t shift = 8 - bits - bit % 8;
    const std::size_t index = from[bit / 8] >> shift & ((1U << bits) - 1);
    std::memcpy(to + 3 * x, palette[index].data(), 3);
  }
}

bool is_565(const BmpLayout& layout) {
  if (layout.compression == kRaw) return false;
  if (layout.masks == std::array<std::uint32_t, 3>{0xF800, 0x7E0, 0x1F})
    return true;
  if (layout.masks == std::array<std::uint32_t, 3>{0x7C00, 0x3E0, 0x1F})
    return false;
  refuse("a BMP of odd channel masks");
}

} // namespace

void decode_bmp(Bytes bytes, const DecodeOptions& options, Image& out) {
  const BmpLayout layout = read_bmp_layout(bytes);
  check_size(layout.width, layout.height, options);
  const int bits = layout.bits;
  if (bits != 1 && bits != 4 && bits != 8 && bits != 16 && bits != 24 &&
      bits != 32)
    refuse(cat("a BMP of ", bits, " bits a pixel"));

  const std::size_t stride =
      (static_cast<std::size_t>(layout.width) * static_cast<std::size_t>(bits) +
       31) /
      32 * 4;
  need_until(
      bytes,
      layout.pixels_at + stride * static_cast<std::size_t>(layout.height));
  std::vector<Colour> palette;
  std::array<std::size_t, 3> order{};
  if (bits <= 8) palette = read_palette(bytes, layout);
  if (bits >= 24) order = byte_order(layout);
  const bool six_bits_of_green = bits == 16 && is_565(layout);

  out.reshape(
      static_cast<int>(layout.width), static_cast<int>(layout.height), 3);
  for (int y = 0; y < out.height(); ++y) {
    const std::uint8_t* from =
        bytes.data() + layout.pixels_at + static_cast<std::size_t>(y) * stride;
    std::uint8_t* to = out.row(layout.top_down ? y : out.height() - 1 - y);
    if (bits <= 8)
      palette_row(from, to, layout, palette);
    else if (bits == 16)
      sixteen_bit_row(from, to, layout.width, six_bits_of_green);
    else
      direct_row(from, to, layout, order);
  }
}

} // namespace temper::data
