// JPEG through libjpeg's own interface, with its defaults (accurate integer
// DCT, smooth chroma upsampling), which are PIL's.
//
// libjpeg reports errors by a call that must not return. It is C, perhaps
// compiled without unwind tables, so an exception may not pass through it: the
// call jumps back to guarded_jpeg(). Between there and the jump are only C
// frames and functions of this file that hold nothing to destroy.
#include <csetjmp>
#include <cstddef>
#include <cstdio> // jpeglib.h needs FILE and does not include it

#include <jpeglib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/data/codec/decode_formats.h"

namespace temper::data {
namespace {

struct JpegDecoder {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf escape{};
  char reason[JMSG_LENGTH_MAX] = {};
  bool truncated = false;

  // The members that the steps below work on.
  Bytes bytes;
  std::uint8_t* pixels = nullptr;
  std::size_t row_bytes = 0;
  std::uint8_t* cmyk_row = nullptr; // of four channels; null: not CMYK
};

JpegDecoder& decoder_of(j_common_ptr jpeg) {
  return *static_cast<JpegDecoder*>(jpeg->client_data);
}

void fail_jpeg(j_common_ptr jpeg) {
  JpegDecoder& decoder = decoder_of(jpeg);
  jpeg->err->format_message(jpeg, decoder.reason);
  std::longjmp(decoder.escape, 1);
}

// Counts warnings instead of writing them to standard error.
void count_jpeg_warning(j_common_ptr jpeg, int level) {
  if (level < 0) ++jpeg->err->num_warnings;
}

// libjpeg asks for more after the last byte. Its own memory source would
// invent an end-of-image marker and return grey; PIL calls that truncated.
boolean end_of_bytes(j_decompress_ptr jpeg) {
  JpegDecoder& decoder = decoder_of(reinterpret_cast<j_common_ptr>(jpeg));
  decoder.truncated = true;
  std::longjmp(decoder.escape, 1);
}

bool guarded_jpeg(JpegDecoder& decoder, void (*step)(JpegDecoder&)) {
  if (setjmp(decoder.escape) != 0) return false;
  step(decoder);
  return true;
}

void create_jpeg(JpegDecoder& decoder) {
  jpeg_create_decompress(&decoder.jpeg);
}

void read_jpeg_header(JpegDecoder& decoder) {
  // Old declarations of jpeg_mem_src take a pointer to non-const.
  jpeg_mem_src(
      &decoder.jpeg,
      const_cast<unsigned char*>(decoder.bytes.data()),
      static_cast<unsigned long>(decoder.bytes.size()));
  decoder.jpeg.src->fill_input_buffer = end_of_bytes;
  jpeg_read_header(&decoder.jpeg, TRUE);
}

// PIL takes any four channels for Adobe's inverted CMYK.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, JDIMENSION n) {
  for (JDIMENSION i = 0; i < n; ++i, cmyk += 4, rgb += 3) {
    const int light = cmyk[3];
    for (int channel = 0; channel < 3; ++channel) {
      const int product = (255 - cmyk[channel]) * light + 128;
      const int ink = ((product >> 8) + product) >> 8;
      rgb[channel] = static_cast<std::uint8_t>(std::max(light - ink, 0));
    }
  }
}

void decompress(JpegDecoder& decoder) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    std::uint8_t* row =
        decoder.pixels + jpeg.output_scanline * decoder.row_bytes;
    if (decoder.cmyk_row != nullptr) {
      JSAMPROW rows[] = {decoder.cmyk_row};
      jpeg_read_scanlines(&jpeg, rows, 1);
      cmyk_to_rgb(decoder.cmyk_row, row, jpeg.output_width);
    } else {
      JSAMPROW rows[] = {row};
      jpeg_read_scanlines(&jpeg, rows, 1);
    }
  }
  jpeg_finish_decompress(&jpeg); // fails without an end-of-image marker
}

// A decoder that has read the header. Keeping one per thread instead was
// measured: 2 % on thumbnails, nothing on photographs.
class Session {
 public:
  explicit Session(Bytes bytes) {
    decoder_.jpeg.err = jpeg_std_error(&decoder_.errors);
    decoder_.errors.error_exit = fail_jpeg;
    decoder_.errors.emit_message = count_jpeg_warning;
    decoder_.jpeg.client_data = &decoder_;
    decoder_.bytes = bytes;
    try {
      run(create_jpeg);
      run(read_jpeg_header);
      const int components = decoder_.jpeg.num_components;
      if (components != 1 && components != 3 && components != 4)
        refuse(cat("a JPEG of ", components, " channels"));
    } catch (...) {
      jpeg_destroy_decompress(&decoder_.jpeg);
      throw;
    }
  }
  ~Session() {
    jpeg_destroy_decompress(&decoder_.jpeg);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  JpegDecoder& decoder() {
    return decoder_;
  }
  jpeg_decompress_struct& jpeg() {
    return decoder_.jpeg;
  }
  void run(void (*step)(JpegDecoder&)) {
    if (guarded_jpeg(decoder_, step)) return;
    if (decoder_.truncated) refuse_truncated(decoder_.bytes);
    refuse(cat("damaged JPEG (", decoder_.reason, ")"));
  }

 private:
  JpegDecoder decoder_;
};

// A block of 8 x 8 pixels takes a bit at least, except in arithmetic coding
// and with odd sampling factors (at most 4 by 4).
constexpr std::int64_t kMostPixelsPerByte = std::int64_t{8} * 64 * 16;

} // namespace

void decode_jpeg(
    Bytes bytes,
    const DecodeOptions& options,
    Image& out,
    int& warnings) {
  Session session(bytes);
  jpeg_decompress_struct& jpeg = session.jpeg();
  check_size(jpeg.image_width, jpeg.image_height, options);
  if (!jpeg.arith_code)
    check_plausible(
        bytes,
        std::int64_t{jpeg.image_width} * jpeg.image_height,
        kMostPixelsPerByte);

  const bool grey = jpeg.num_components == 1;
  const bool cmyk = jpeg.num_components == 4;
  const int channels = grey && options.channels != 3 ? 1 : 3;
  jpeg.out_color_space = cmyk ? JCS_CMYK
      : channels == 1         ? JCS_GRAYSCALE
                              : JCS_RGB;
  out.reshape(
      static_cast<int>(jpeg.image_width),
      static_cast<int>(jpeg.image_height),
      channels);
  std::vector<std::uint8_t> cmyk_row(cmyk ? 4 * jpeg.image_width : 0);

  JpegDecoder& decoder = session.decoder();
  decoder.pixels = out.pixels();
  decoder.row_bytes = out.row_bytes();
  decoder.cmyk_row = cmyk ? cmyk_row.data() : nullptr;
  session.run(decompress);
  warnings += static_cast<int>(decoder.errors.num_warnings);
}

} // namespace temper::data
