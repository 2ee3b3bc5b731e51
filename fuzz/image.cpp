// Sniffing and decoding of image files, each format's own seeds.
#include "temper/data/codec/decode.h"

#include <jpeglib.h>
#include <png.h>

#include <cstdio>
#include <cstdlib>

#include "target.h"
#include "temper/data/sample/source.h"

namespace {

using temper::data::Image;

std::string jpeg(int quality, bool grey) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = 20;
  codec.image_height = 12;
  codec.input_components = grey ? 1 : 3;
  codec.in_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  if (grey) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  unsigned char row[60];
  for (int y = 0; y < 12; ++y) {
    for (int x = 0; x < 60; ++x)
      row[x] = static_cast<unsigned char>(x * y + 3 * x);
    unsigned char* rows[] = {row};
    jpeg_write_scanlines(&codec, rows, 1);
  }
  jpeg_finish_compress(&codec);
  std::string text(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&codec);
  std::free(bytes);
  return text;
}

std::string png(unsigned format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = 9;
  image.height = 7;
  image.format = format;
  unsigned char pixels[9 * 7 * 8];
  for (std::size_t i = 0; i < sizeof pixels; ++i)
    pixels[i] = static_cast<unsigned char>(i * 7);
  std::string text(4096, '\0');
  png_alloc_size_t size = text.size();
  png_image_write_to_memory(&image, text.data(), &size, 0, pixels, 0, nullptr);
  text.resize(size);
  return text;
}

std::string bmp() {
  using temper::fuzz::little_endian;
  const std::string pixels(4 * 3 * 4, 'p'); // 4 x 4, 24 bit
  return "BM" + little_endian<std::uint32_t>(54 + 48) +
      little_endian<std::uint32_t>(0) + little_endian<std::uint32_t>(54) +
      little_endian<std::uint32_t>(40) + little_endian<std::uint32_t>(4) +
      little_endian<std::uint32_t>(4) + little_endian<std::uint16_t>(1) +
      little_endian<std::uint16_t>(24) + std::string(24, '\0') + pixels;
}

// A lossless WebP of one pixel, and the frame of a lossy one.
std::string webp() {
  const std::string body(
      "VP8L\x0d\0\0\0\x2f\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0\0", 22);
  return "RIFF" +
      temper::fuzz::little_endian<std::uint32_t>(
             static_cast<std::uint32_t>(4 + body.size())) +
      "WEBP" + body;
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {
      jpeg(90, false),
      jpeg(50, true),
      png(PNG_FORMAT_RGB),
      png(PNG_FORMAT_GA),
      png(PNG_FORMAT_LINEAR_RGB_ALPHA),
      bmp(),
      webp(),
      "P6 3 2 255\n" + std::string(18, 'x'),
      "P2 # plain\n2 2 15\n1 2 3 4\n",
      std::string("P4 9 2\n\xff\x80\x01\x00", 11)};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  static Image image;
  const temper::data::Bytes bytes(data, size);
  temper::data::sniff_image(bytes);
  for (const int channels : {0, 1, 3})
    try {
      int warnings = 0;
      temper::data::DecodeOptions options;
      options.channels = channels;
      options.max_pixels = 1 << 22;
      temper::data::decode_image(bytes, options, image, warnings);
    } catch (const temper::data::BadSample&) {
    }
  return 0;
}
