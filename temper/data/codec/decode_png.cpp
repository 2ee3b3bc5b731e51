// PNG through libpng's row interface (its simplified one had three security
// holes in 2025). Transparency is dropped and depth reduced as PIL does:
// sixteen-bit colour keeps its high byte, sixteen-bit grey is clipped at 255.
//
// libpng's errors jump, as libjpeg's do; see decode_jpeg.cpp.
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "temper/base/byte_order.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode_formats.h"

namespace temper::data {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kHeaderEnd = kSignature + 8 + 13;

struct Ihdr {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int depth = 0;
  int colour = 0;
};

Ihdr read_ihdr(Bytes bytes) {
  if (bytes.size() < kHeaderEnd) refuse_truncated(bytes);
  const std::uint8_t* chunk = bytes.data() + kSignature;
  if (std::memcmp(chunk + 4, "IHDR", 4) != 0) refuse("a PNG without a header");
  return {
      read_big_endian<std::uint32_t>(chunk + 8),
      read_big_endian<std::uint32_t>(chunk + 12),
      chunk[16],
      chunk[17]};
}

int samples_per_pixel(int colour) {
  switch (colour) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return 1;
  }
}

bool is_grey(int colour) {
  return colour == PNG_COLOR_TYPE_GRAY || colour == PNG_COLOR_TYPE_GRAY_ALPHA;
}

struct PngDecoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::jmp_buf escape{};
  std::array<char, 160> reason{};
  bool truncated = false;
  int warnings = 0;

  Bytes bytes;
  std::size_t position = 0;
  png_bytepp rows = nullptr;
  std::size_t row_bytes = 0; // what a row must come to
  bool to_rgb = false;

  PngDecoder() = default;
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() {
    png_destroy_read_struct(&png, &info, nullptr);
  }
};

[[noreturn]] void fail_png(png_structp png, png_const_charp message) {
  auto& decoder = *static_cast<PngDecoder*>(png_get_error_ptr(png));
  std::strncpy(decoder.reason.data(), message, decoder.reason.size() - 1);
  std::longjmp(decoder.escape, 1);
}

void count_png_warning(png_structp png, png_const_charp) {
  ++static_cast<PngDecoder*>(png_get_error_ptr(png))->warnings;
}

void take(png_structp png, png_bytep to, std::size_t count) {
  auto& decoder = *static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (count > decoder.bytes.size() - decoder.position) {
    decoder.truncated = true;
    png_error(png, "truncated");
  }
  std::memcpy(to, decoder.bytes.data() + decoder.position, count);
  decoder.position += count;
}

bool guarded_png(PngDecoder& decoder, void (*step)(PngDecoder&)) {
  if (setjmp(decoder.escape) != 0) return false;
  step(decoder);
  return true;
}

void create_png(PngDecoder& decoder) {
  decoder.png = png_create_read_struct(
      PNG_LIBPNG_VER_STRING, &decoder, fail_png, count_png_warning);
  if (decoder.png == nullptr) return;
  decoder.info = png_create_info_struct(decoder.png);
  png_set_read_fn(decoder.png, &decoder, take);
  // Colour profiles, text and transparency do not change the pixels; not
  // looking at them is quicker and safer.
  png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  // PIL shows indices that the palette lacks as grey.
  png_set_check_for_invalid_index(decoder.png, 0);
}

void read_png_header(PngDecoder& decoder) {
  png_read_info(decoder.png, decoder.info);
  const int colour = png_get_color_type(decoder.png, decoder.info);
  const int depth = png_get_bit_depth(decoder.png, decoder.info);
  if (colour == PNG_COLOR_TYPE_PALETTE) {
    png_set_packing(decoder.png);
  } else if (colour == PNG_COLOR_TYPE_GRAY && depth < 8) {
    png_set_expand_gray_1_2_4_to_8(decoder.png);
  } else if (colour != PNG_COLOR_TYPE_GRAY && depth == 16) {
    png_set_strip_16(decoder.png);
  }
  png_set_strip_alpha(decoder.png);
  if (decoder.to_rgb && is_grey(colour) &&
      !(colour == PNG_COLOR_TYPE_GRAY && depth == 16))
    png_set_gray_to_rgb(decoder.png);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
}

void read_rows(PngDecoder& decoder) {
  if (png_get_rowbytes(decoder.png, decoder.info) != decoder.row_bytes)
    png_error(decoder.png, "a row of unexpected length");
  png_read_image(decoder.png, decoder.rows);
}

// Checks the sums behind the last row. A file that merely ends there has all
// its pixels.
void read_end(PngDecoder& decoder) {
  png_read_end(decoder.png, nullptr);
}

void run(PngDecoder& decoder, void (*step)(PngDecoder&)) {
  if (guarded_png(decoder, step)) return;
  if (decoder.truncated) refuse_truncated(decoder.bytes);
  refuse(cat("damaged PNG (", decoder.reason.data(), ")"));
}

void read_pixels(PngDecoder& decoder, std::uint8_t* to, std::uint32_t height) {
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y)
    rows[y] = to + y * decoder.row_bytes;
  decoder.rows = rows.data();
  run(decoder, read_rows);
  if (guarded_png(decoder, read_end)) return;
  if (!decoder.truncated)
    refuse(cat("damaged PNG (", decoder.reason.data(), ")"));
  ++decoder.warnings;
}

void look_up(
    const PngDecoder& decoder,
    const std::vector<std::uint8_t>& indices,
    Image& out) {
  std::array<std::array<std::uint8_t, 3>, 256> colours{};
  for (std::size_t i = 0; i < colours.size(); ++i)
    colours[i].fill(static_cast<std::uint8_t>(i));
  png_colorp palette = nullptr;
  int count = 0;
  png_get_PLTE(decoder.png, decoder.info, &palette, &count);
  for (int i = 0; i < count && i < 256; ++i)
    colours[static_cast<std::size_t>(i)] = {
        palette[i].red, palette[i].green, palette[i].blue};
  std::uint8_t* to = out.pixels();
  for (const std::uint8_t index : indices) {
    std::memcpy(to, colours[index].data(), 3);
    to += 3;
  }
}

} // namespace

void decode_png(
    Bytes bytes,
    const DecodeOptions& options,
    Image& out,
    int& warnings) {
  const Ihdr header = read_ihdr(bytes);
  check_size(header.width, header.height, options);
  // Deflate makes at most 1,032 bytes of one.
  const std::int64_t stored_row =
      (std::int64_t{header.width} * samples_per_pixel(header.colour) *
           header.depth +
       7) /
      8;
  check_plausible(bytes, stored_row * header.height, 1032);

  const bool palette = header.colour == PNG_COLOR_TYPE_PALETTE;
  const bool deep_grey =
      header.colour == PNG_COLOR_TYPE_GRAY && header.depth == 16;
  PngDecoder decoder;
  decoder.bytes = bytes;
  decoder.to_rgb = options.channels == 3;
  run(decoder, create_png);
  if (decoder.info == nullptr) refuse("libpng could not start");
  run(decoder, read_png_header);

  const bool one = deep_grey || (is_grey(header.colour) && !decoder.to_rgb);
  out.reshape(
      static_cast<int>(header.width),
      static_cast<int>(header.height),
      one ? 1 : 3);
  if (palette || deep_grey) {
    decoder.row_bytes = std::size_t{header.width} * (deep_grey ? 2 : 1);
    std::vector<std::uint8_t> stored(decoder.row_bytes * header.height);
    read_pixels(decoder, stored.data(), header.height);
    if (palette) {
      look_up(decoder, stored, out);
    } else {
      for (std::size_t i = 0; i < out.bytes(); ++i)
        out.pixels()[i] =
            clip_to_byte(stored[2 * i] * 256U + stored[2 * i + 1]);
      ++decoder.warnings; // most of such an image turns white
    }
  } else {
    decoder.row_bytes = out.row_bytes();
    read_pixels(decoder, out.pixels(), header.height);
  }
  warnings += decoder.warnings;
}

} // namespace temper::data
