#include "temper/data/codec/decode.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "temper/base/text.h"
#include "temper/data/codec/decode_formats.h"
#include "temper/data/sample/source.h"

namespace temper::data {
namespace {

bool has_at(Bytes bytes, std::size_t offset, std::string_view text) {
  return bytes.size() >= offset + text.size() &&
      std::memcmp(bytes.data() + offset, text.data(), text.size()) == 0;
}

// Formats people do have, so that the message can name them.
const char* known_but_unread(Bytes bytes) {
  using namespace std::string_view_literals;
  if (has_at(bytes, 0, "GIF8")) return "GIF";
  if (has_at(bytes, 0, "II*\0"sv) || has_at(bytes, 0, "MM\0*"sv)) return "TIFF";
  if (has_at(bytes, 4, "ftypavif")) return "AVIF";
  if (has_at(bytes, 4, "ftyp")) return "HEIC";
  if (has_at(bytes, 0, "\xFF\x0A") || has_at(bytes, 4, "JXL "))
    return "JPEG XL";
  return nullptr;
}

[[noreturn]] void refuse_unknown(Bytes bytes) {
  if (bytes.empty()) refuse("the file is empty");
  if (const char* name = known_but_unread(bytes))
    refuse(cat(name, " images are not supported"));
  refuse("not an image");
}

void grey_to_rgb(const Image& grey, Image& rgb) {
  rgb.reshape(grey.width(), grey.height(), 3);
  const std::uint8_t* from = grey.pixels();
  std::uint8_t* to = rgb.pixels();
  for (std::size_t i = 0; i < grey.bytes(); ++i, to += 3)
    to[0] = to[1] = to[2] = from[i];
}

void rgb_to_grey(const Image& rgb, Image& grey) {
  grey.reshape(rgb.width(), rgb.height(), 1);
  const std::uint8_t* from = rgb.pixels();
  std::uint8_t* to = grey.pixels();
  for (std::size_t i = 0; i < grey.bytes(); ++i, from += 3)
    to[i] = grey_of(from[0], from[1], from[2]);
}

} // namespace

void refuse(const std::string& reason) {
  throw BadSample(reason);
}

void refuse_truncated(Bytes bytes) {
  refuse(
      cat("truncated after ",
          count_text(static_cast<std::int64_t>(bytes.size())),
          " bytes"));
}

void check_size(
    std::int64_t width,
    std::int64_t height,
    const DecodeOptions& options) {
  constexpr std::int64_t kMostSide = std::numeric_limits<int>::max() / 4;
  if (width < 1 || height < 1) refuse("it has no pixels");
  if (width > kMostSide || height > kMostSide ||
      height > options.max_pixels / width)
    refuse(
        cat(count_text(width),
            " × ",
            count_text(height),
            " pixels are more than the ",
            count_text(options.max_pixels / 1'000'000),
            " Mpx limit"));
}

void check_plausible(
    Bytes bytes,
    std::int64_t decoded_bytes,
    std::int64_t most_per_byte) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (decoded_bytes / most_per_byte > size) refuse_truncated(bytes);
}

const char* to_string(ImageFormat format) {
  switch (format) {
    case ImageFormat::unknown:
      return "unknown";
    case ImageFormat::jpeg:
      return "JPEG";
    case ImageFormat::png:
      return "PNG";
    case ImageFormat::webp:
      return "WebP";
    case ImageFormat::bmp:
      return "BMP";
    case ImageFormat::pnm:
      return "PNM";
  }
  return "";
}

ImageFormat sniff_image(Bytes bytes) {
  if (has_at(bytes, 0, "\xFF\xD8\xFF")) return ImageFormat::jpeg;
  if (has_at(bytes, 0, "\x89PNG\r\n\x1A\n")) return ImageFormat::png;
  if (has_at(bytes, 0, "RIFF") && has_at(bytes, 8, "WEBP"))
    return ImageFormat::webp;
  if (has_at(bytes, 0, "BM")) return ImageFormat::bmp;
  if (bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' &&
      bytes[1] <= '6' && std::strchr(" \t\r\n\v\f#", bytes[2]) != nullptr &&
      bytes[2] != 0)
    return ImageFormat::pnm;
  return ImageFormat::unknown;
}

namespace {

std::optional<Box> decode_by_format(
    Bytes bytes,
    const DecodeOptions& options,
    const WindowChooser* chooser,
    Image& out,
    int& warnings) {
  std::optional<Box> window;
  check(
      options.channels == 0 || options.channels == 1 || options.channels == 3,
      "images are decoded to one or three channels");
  switch (sniff_image(bytes)) {
    case ImageFormat::jpeg:
      window = decode_jpeg(bytes, options, chooser, out, warnings);
      break;
    case ImageFormat::png:
      decode_png(bytes, options, out, warnings);
      break;
    case ImageFormat::webp:
      decode_webp(bytes, options, out);
      break;
    case ImageFormat::bmp:
      decode_bmp(bytes, options, out);
      break;
    case ImageFormat::pnm:
      decode_pnm(bytes, options, out, warnings);
      break;
    case ImageFormat::unknown:
      refuse_unknown(bytes);
  }
  if (options.channels == 0 || options.channels == out.channels())
    return window;
  Image converted;
  if (options.channels == 3)
    grey_to_rgb(out, converted);
  else
    rgb_to_grey(out, converted);
  std::swap(out, converted);
  return window;
}

} // namespace

void decode_image(
    Bytes bytes,
    const DecodeOptions& options,
    Image& out,
    int& warnings) {
  decode_by_format(bytes, options, nullptr, out, warnings);
}

std::optional<Box> decode_window(
    Bytes bytes,
    const DecodeOptions& options,
    const WindowChooser& chooser,
    Image& out,
    int& warnings) {
  return decode_by_format(bytes, options, &chooser, out, warnings);
}

void decode_sample(Bytes bytes, const WindowChooser* chooser, Sample& sample) {
  DecodeOptions colour;
  colour.channels = 3;
  sample.window =
      decode_by_format(bytes, colour, chooser, sample.image, sample.warnings);
}

} // namespace temper::data
