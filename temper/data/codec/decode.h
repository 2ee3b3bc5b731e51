// Decoding of an image file's bytes to pixels: JPEG, PNG, WebP, BMP and PNM,
// told apart by their first bytes and never by their name. The pixels are those
// of PIL's Image.open(file).convert("RGB"), bit for bit. Used by every source
// that is made of encoded files.
//
// Pure functions of the bytes, safe from any thread. What cannot be decoded is
// a BadSample whose what() is the bare reason ("truncated after 3,112 bytes");
// the source adds which sample it was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "temper/data/sample/image.h"
#include "temper/data/sample/source.h"

namespace temper::data {

using Bytes = std::span<const std::uint8_t>;

enum class ImageFormat { unknown, jpeg, png, webp, bmp, pnm };

const char* to_string(ImageFormat format);

ImageFormat sniff_image(Bytes bytes);

struct DecodeOptions {
  int channels = 0; // 1 or 3; 0: as stored
  // Checked before any memory is taken.
  std::int64_t max_pixels = 64'000'000;
};

// Fills `out`; adds to `warnings` what the decoder put up with. Throws
// BadSample, and leaves `out` undefined then.
void decode_image(
    Bytes bytes,
    const DecodeOptions& options,
    Image& out,
    int& warnings);

// Like decode_image, but `out` may become only the window that is chosen for
// the image's size: its pixels are those of decode_image. Returns the window,
// or no value when `out` is the whole image: of other formats than JPEG, and
// of a JPEG whose parts cannot be decoded to the same pixels.
//
// It throws where decode_image throws. Warnings about what lies below the
// window are not counted, because that is not decoded.
std::optional<Box> decode_window(
    Bytes bytes,
    const DecodeOptions& options,
    const WindowChooser& chooser,
    Image& out,
    int& warnings);

// Fills image, window and warnings of the sample, in colour. Without a
// chooser the image is whole.
void decode_sample(Bytes bytes, const WindowChooser* chooser, Sample& sample);

} // namespace temper::data
