// JPEG through libjpeg's own interface, with its defaults (accurate integer
// DCT, smooth chroma upsampling), which are PIL's.
//
// libjpeg reports errors by a call that must not return. It is C, perhaps
// compiled without unwind tables, so an exception may not pass through it: the
// call jumps back to guarded_jpeg(). Between there and the jump are only C
// frames and functions of this file that hold nothing to destroy.
//
// A window is decoded block by block, with exactly the pixels of a whole
// decode:
//  - Across, blocks outside of it are read from the bit stream and not
//    transformed. Chroma is interpolated between neighbours, and libjpeg takes
//    the outermost column it decodes for the edge of the image: the columns
//    asked for reach kMargin further on both sides.
//  - Down, rows above are read from the bit stream only; libjpeg keeps the
//    rows that the interpolation needs.
//  - The rest of the bit stream is not read, only searched for the marker that
//    ends the image, so that a truncated file is found wherever it was cut. Any
//    other marker, which a whole decode may refuse, makes the decoder go on to
//    the end as if there were no window.
// Sampling factors other than the usual ones, CMYK, arithmetic coding and
// progressive files that lack scans (libjpeg smooths these over neighbouring
// blocks) are decoded whole.
#include <csetjmp>
#include <cstddef>
#include <cstdio> // jpeglib.h needs FILE and does not include it

#include <jpeglib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
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
  bool cmyk = false;
  Box window;
  // Room for a row of the whole image, of CMYK or where there is a window.
  std::uint8_t* row = nullptr;
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

void start_decompressing(JpegDecoder& decoder) {
  jpeg_start_decompress(&decoder.jpeg);
}

void decompress(JpegDecoder& decoder) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  while (jpeg.output_scanline < jpeg.output_height) {
    std::uint8_t* row =
        decoder.pixels + jpeg.output_scanline * decoder.row_bytes;
    if (decoder.cmyk) {
      JSAMPROW rows[] = {decoder.row};
      jpeg_read_scanlines(&jpeg, rows, 1);
      cmyk_to_rgb(decoder.row, row, jpeg.output_width);
    } else {
      JSAMPROW rows[] = {row};
      jpeg_read_scanlines(&jpeg, rows, 1);
    }
  }
  jpeg_finish_decompress(&jpeg); // fails without an end-of-image marker
}

#if LIBJPEG_TURBO_VERSION_NUMBER >= 2001000

// Earlier versions of libjpeg-turbo skip rows wrongly in some images, and
// other libraries cannot do it.

// Chroma samples are interpolated from one neighbour on each side; a sample
// is two pixels wide.
constexpr int kMargin = 4;
// Images whose chroma is narrower than three samples are not interpolated.
constexpr int kNarrowest = 32;

bool has_usual_sampling(const jpeg_decompress_struct& jpeg) {
  const jpeg_component_info* parts = jpeg.comp_info;
  if (parts[0].h_samp_factor > 2 || parts[0].v_samp_factor > 2) return false;
  if (jpeg.num_components == 1)
    return parts[0].h_samp_factor == 1 && parts[0].v_samp_factor == 1;
  if (jpeg.num_components != 3) return false;
  return parts[1].h_samp_factor == 1 && parts[1].v_samp_factor == 1 &&
      parts[2].h_samp_factor == 1 && parts[2].v_samp_factor == 1;
}

// Known from the header.
bool may_decode_window(const jpeg_decompress_struct& jpeg) {
  const bool sequential = jpeg.Ss == 0 && jpeg.Se == DCTSIZE2 - 1;
  return !jpeg.arith_code && jpeg.data_precision == 8 &&
      (jpeg.progressive_mode || sequential) && has_usual_sampling(jpeg);
}

// A progressive file brought all bits of the coefficients that libjpeg would
// otherwise guess from the neighbouring blocks. Known once it is absorbed.
bool is_complete(const jpeg_decompress_struct& jpeg) {
  constexpr int kGuessed = 10;
  if (!jpeg.progressive_mode) return true;
  if (jpeg.coef_bits == nullptr) return false;
  for (int part = 0; part < jpeg.num_components; ++part)
    for (int i = 0; i < kGuessed; ++i)
      if (jpeg.coef_bits[part][i] != 0) return false;
  return true;
}

// Whether the image's end marker is the next one apart from restarts. Marks
// the file as truncated when there is none at all.
bool ends_next(JpegDecoder& decoder) {
  constexpr int kEnd = JPEG_EOI;
  const auto is_restart = [](int marker) {
    return marker >= JPEG_RST0 && marker < JPEG_RST0 + 8;
  };
  const int met = decoder.jpeg.unread_marker;
  if (met != 0 && !is_restart(met)) return met == kEnd;
  const std::uint8_t* at = decoder.jpeg.src->next_input_byte;
  const std::uint8_t* end = at + decoder.jpeg.src->bytes_in_buffer;
  while (at < end) {
    at = static_cast<const std::uint8_t*>(
        std::memchr(at, 0xFF, static_cast<std::size_t>(end - at)));
    if (at == nullptr) break;
    while (at < end && *at == 0xFF)
      ++at;
    if (at == end) break;
    if (*at != 0 && !is_restart(*at)) return *at == kEnd;
    ++at;
  }
  decoder.truncated = true;
  std::longjmp(decoder.escape, 1);
}

void decompress_window(JpegDecoder& decoder) {
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  const Box& window = decoder.window;
  const int whole = static_cast<int>(jpeg.output_width);
  const int channels = jpeg.output_components;
  const int begin = std::max(0, window.left - kMargin);
  const int wanted_end = window.left + window.width + kMargin;
  const int end = std::min(whole, std::max(wanted_end, begin + kNarrowest));
  auto left =
      static_cast<JDIMENSION>(std::min(begin, std::max(0, end - kNarrowest)));
  auto width = static_cast<JDIMENSION>(end) - left;
  jpeg_crop_scanline(&jpeg, &left, &width);
  const auto offset = (static_cast<std::size_t>(window.left) - left) *
      static_cast<std::size_t>(channels);
  JSAMPROW rows[] = {decoder.row};
  if (window.top > 0)
    jpeg_skip_scanlines(&jpeg, static_cast<JDIMENSION>(window.top));
  std::uint8_t* out = decoder.pixels;
  for (int y = 0; y < window.height; ++y, out += decoder.row_bytes) {
    jpeg_read_scanlines(&jpeg, rows, 1);
    std::memcpy(out, decoder.row + offset, decoder.row_bytes);
  }
  if (jpeg_has_multiple_scans(&jpeg)) return; // read to its end at the start
  if (jpeg.output_scanline < jpeg.output_height && ends_next(decoder)) return;
  while (jpeg.output_scanline < jpeg.output_height)
    jpeg_read_scanlines(&jpeg, rows, 1);
  jpeg_finish_decompress(&jpeg);
}

#else

bool may_decode_window(const jpeg_decompress_struct&) {
  return false;
}
bool is_complete(const jpeg_decompress_struct&) {
  return false;
}
void decompress_window(JpegDecoder&) {}

#endif

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

std::optional<Box> decode_jpeg(
    Bytes bytes,
    const DecodeOptions& options,
    const WindowChooser* chooser,
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
  const Box whole{
      0,
      0,
      static_cast<int>(jpeg.image_width),
      static_cast<int>(jpeg.image_height)};
  std::optional<Box> window;
  if (chooser != nullptr && may_decode_window(jpeg))
    window = chooser->choose(whole.width, whole.height);
  check(
      !window ||
          (window->left >= 0 && window->top >= 0 && window->width > 0 &&
           window->height > 0 && window->width <= whole.width - window->left &&
           window->height <= whole.height - window->top),
      "a window lies inside its image");
  if (window == whole) window.reset();
  session.run(start_decompressing);
  if (window && !is_complete(jpeg)) window.reset();

  const Box& part = window ? *window : whole;
  out.reshape(part.width, part.height, channels);
  // Where a row is decoded that does not go straight into `out`. libjpeg
  // writes aligned rows around the caches, and this one is read at once: it
  // begins in the middle of sixteen bytes.
  constexpr std::size_t kAligned = 16;
  std::vector<std::uint8_t> row;
  JpegDecoder& decoder = session.decoder();
  if (cmyk || window) {
    row.resize(4 * std::size_t{jpeg.image_width} + 2 * kAligned);
    const auto begin = reinterpret_cast<std::uintptr_t>(row.data());
    decoder.row = row.data() + (kAligned - begin % kAligned) + kAligned / 2;
  }
  decoder.pixels = out.pixels();
  decoder.row_bytes = out.row_bytes();
  decoder.cmyk = cmyk;
  decoder.window = part;
  session.run(window ? decompress_window : decompress);
  warnings += static_cast<int>(decoder.errors.num_warnings);
  return window;
}

} // namespace temper::data
