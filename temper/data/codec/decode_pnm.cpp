// PBM, PGM and PPM, plain and raw (P1 to P6), with the quirks of PIL: values
// are scaled to 0..255, except that grey above 255 is scaled to 0..65535 and
// clipped.
#include <cmath>
#include <string>

#include "temper/base/text.h"
#include "temper/data/codec/decode_formats.h"

namespace temper::data {
namespace {

bool is_pnm_space(std::uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

class PnmReader {
 public:
  PnmReader(Bytes bytes, std::size_t position)
      : bytes_(bytes), position_(position) {}

  // Past blanks and comments.
  void skip() {
    while (position_ < bytes_.size()) {
      if (bytes_[position_] == '#') {
        while (position_ < bytes_.size() && bytes_[position_] != '\n' &&
               bytes_[position_] != '\r')
          ++position_;
      } else if (!is_pnm_space(bytes_[position_])) {
        return;
      } else {
        ++position_;
      }
    }
  }

  int number() {
    skip();
    if (position_ == bytes_.size()) refuse_truncated(bytes_);
    const std::size_t begin = position_;
    int value = 0;
    while (position_ < bytes_.size() && bytes_[position_] >= '0' &&
           bytes_[position_] <= '9') {
      if (position_ - begin >= 9) refuse("a PNM with too large a number");
      value = value * 10 + (bytes_[position_++] - '0');
    }
    if (position_ == begin) refuse("a PNM with something other than a number");
    return value;
  }

  // One digit of a plain bitmap: they need no blanks between them.
  bool bit() {
    skip();
    if (position_ == bytes_.size()) refuse_truncated(bytes_);
    const std::uint8_t digit = bytes_[position_++];
    if (digit != '0' && digit != '1')
      refuse("a PBM with something other than 0 and 1");
    return digit == '1';
  }

  std::size_t position() const {
    return position_;
  }

 private:
  Bytes bytes_;
  std::size_t position_;
};

struct PnmLayout {
  char kind = '1'; // the digit of P1 .. P6
  int width = 0;
  int height = 0;
  int most = 1; // the largest value
  std::size_t pixels_at = 0;

  bool plain() const {
    return kind <= '3';
  }
  bool bitmap() const {
    return kind == '1' || kind == '4';
  }
  int channels() const {
    return kind == '3' || kind == '6' ? 3 : 1;
  }
};

PnmLayout read_pnm_layout(Bytes bytes) {
  PnmLayout layout;
  layout.kind = static_cast<char>(bytes[1]);
  PnmReader reader(bytes, 2);
  layout.width = reader.number();
  layout.height = reader.number();
  if (!layout.bitmap()) layout.most = reader.number();
  if (layout.most < 1 || layout.most > 65535)
    refuse("a PNM whose largest value is not in 1 .. 65535");
  layout.pixels_at = reader.position() + 1; // one blank ends the header
  return layout;
}

std::uint8_t scaled(int value, const PnmLayout& layout) {
  if (layout.most == 255) return static_cast<std::uint8_t>(value);
  const int range = layout.most > 255 && layout.channels() == 1 ? 65535 : 255;
  // Half to even, as Python rounds.
  const double exact = static_cast<double>(value) / layout.most * range;
  return clip_to_byte(static_cast<unsigned>(std::nearbyint(exact)));
}

void decode_plain(Bytes bytes, const PnmLayout& layout, Image& out) {
  PnmReader reader(bytes, layout.pixels_at - 1);
  for (std::size_t i = 0; i < out.bytes(); ++i) {
    if (layout.bitmap()) {
      out.pixels()[i] = reader.bit() ? 0 : 255;
      continue;
    }
    const int value = reader.number();
    if (value > layout.most) refuse("a PNM with a value above its largest");
    out.pixels()[i] = scaled(value, layout);
  }
}

void decode_raw(const std::uint8_t* from, const PnmLayout& layout, Image& out) {
  std::uint8_t* to = out.pixels();
  if (layout.bitmap()) {
    const std::size_t stride = (out.row_bytes() + 7) / 8;
    for (int y = 0; y < out.height(); ++y, from += stride)
      for (std::size_t x = 0; x < out.row_bytes(); ++x)
        *to++ = (from[x / 8] >> (7 - x % 8) & 1) != 0 ? 0 : 255;
  } else if (layout.most < 256) {
    for (std::size_t i = 0; i < out.bytes(); ++i)
      to[i] = scaled(from[i], layout);
  } else {
    for (std::size_t i = 0; i < out.bytes(); ++i)
      to[i] = scaled(from[2 * i] * 256 + from[2 * i + 1], layout);
  }
}

} // namespace

void decode_pnm(
    Bytes bytes,
    const DecodeOptions& options,
    Image& out,
    int& warnings) {
  const PnmLayout layout = read_pnm_layout(bytes);
  check_size(layout.width, layout.height, options);
  const auto width = static_cast<std::size_t>(layout.width) *
      static_cast<std::size_t>(layout.channels());
  const auto height = static_cast<std::size_t>(layout.height);
  const std::size_t row = layout.bitmap() && !layout.plain() ? (width + 7) / 8
      : layout.most > 255 && !layout.plain()                 ? 2 * width
                                                             : width;
  // A plain value takes a byte at least.
  if (layout.pixels_at > bytes.size() ||
      row * height > bytes.size() - layout.pixels_at)
    refuse_truncated(bytes);
  out.reshape(layout.width, layout.height, layout.channels());
  if (layout.plain())
    decode_plain(bytes, layout, out);
  else
    decode_raw(bytes.data() + layout.pixels_at, layout, out);
  if (layout.most > 255 && layout.channels() == 1)
    ++warnings; // most of such an image turns white
}

} // namespace temper::data
