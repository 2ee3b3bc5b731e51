// Windows of JPEG files: the pixels of a whole decode, or the same refusal.
// The first four bytes of an input place the window, the others are the file.
#include <cstdio> // jpeglib.h needs FILE and does not include it

#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>

#include "target.h"
#include "temper/data/codec/decode.h"

namespace {

using temper::data::Box;
using temper::data::Image;

class Placed final : public temper::data::WindowChooser {
 public:
  explicit Placed(const std::uint8_t* place) : place_(place) {}
  std::optional<Box> choose(int width, int height) const override {
    Box box;
    box.left = place_[0] * width / 256;
    box.top = place_[1] * height / 256;
    box.width = 1 + place_[2] * (width - box.left - 1) / 255;
    box.height = 1 + place_[3] * (height - box.top - 1) / 255;
    return box;
  }

 private:
  const std::uint8_t* place_;
};

struct Outcome {
  Image image;
  std::optional<Box> window;
  int warnings = 0;
  std::string reason;
};

Outcome decoded(temper::data::Bytes file, const Placed* place) {
  Outcome got;
  temper::data::DecodeOptions options;
  options.channels = 3;
  options.max_pixels = 1 << 20;
  try {
    if (place != nullptr)
      got.window = temper::data::decode_window(
          file, options, *place, got.image, got.warnings);
    else
      temper::data::decode_image(file, options, got.image, got.warnings);
  } catch (const temper::data::BadSample& error) {
    got.reason = error.what();
  }
  return got;
}

bool same(const Outcome& whole, const Outcome& part) {
  if (whole.reason != part.reason) return false;
  if (!whole.reason.empty()) return true;
  const Box box = part.window.value_or(
      Box{0, 0, whole.image.width(), whole.image.height()});
  if (part.image.width() != box.width || part.image.height() != box.height)
    return false;
  for (int y = 0; y < box.height; ++y)
    if (std::memcmp(
            part.image.row(y),
            whole.image.row(box.top + y) + 3 * box.left,
            part.image.row_bytes()) != 0)
      return false;
  return true;
}

std::string jpeg(int across, int down, bool progressive, unsigned restarts) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = 75;
  codec.image_height = 61;
  codec.input_components = 3;
  codec.in_color_space = JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, 70, TRUE);
  codec.comp_info[0].h_samp_factor = across;
  codec.comp_info[0].v_samp_factor = down;
  codec.restart_interval = restarts;
  if (progressive) jpeg_simple_progression(&codec);
  jpeg_start_compress(&codec, TRUE);
  unsigned char row[75 * 3];
  for (unsigned y = 0; y < 61; ++y) {
    for (unsigned x = 0; x < sizeof row; ++x)
      row[x] = static_cast<unsigned char>(x * y / 3 + 5 * x);
    unsigned char* rows[] = {row};
    jpeg_write_scanlines(&codec, rows, 1);
  }
  jpeg_finish_compress(&codec);
  std::string text(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&codec);
  std::free(bytes);
  return "\x40\x30\x50\x20" + text;
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {
      jpeg(2, 2, false, 0),
      jpeg(2, 1, false, 3),
      jpeg(1, 2, false, 0),
      jpeg(1, 1, true, 0),
      jpeg(2, 2, true, 4)};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  if (size < 4) return 0;
  const temper::data::Bytes file(data + 4, size - 4);
  const Placed place(data);
  if (!same(decoded(file, nullptr), decoded(file, &place))) std::terminate();
  return 0;
}
