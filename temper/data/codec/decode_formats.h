// The decoders behind decode_image, one file each, and what they share. Each
// decoder checks the size before it takes memory, and fills `out` with one or
// three channels; where the format makes it cheap it gives what `channels`
// asks for, and decode_image converts the rest.
// Private to data/codec.
#pragma once

#include <string>

#include "temper/data/codec/decode.h"

namespace temper::data {

// Throws BadSample with this reason.
[[noreturn]] void refuse(const std::string& reason);
[[noreturn]] void refuse_truncated(Bytes bytes);

// Throws unless 1 <= width x height <= limit, and both fit an int.
void check_size(
    std::int64_t width,
    std::int64_t height,
    const DecodeOptions& options);

// Throws when a file this long cannot hold that much: the header lies.
void check_plausible(
    Bytes bytes,
    std::int64_t decoded_bytes,
    std::int64_t most_per_byte);

inline std::uint8_t grey_of(int red, int green, int blue) {
  return static_cast<std::uint8_t>(
      (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16);
}

// The value as a byte; larger ones become white, as in PIL.
inline std::uint8_t clip_to_byte(unsigned value) {
  return static_cast<std::uint8_t>(value < 255 ? value : 255);
}

// Returns the window that `out` is; no value: the whole image. The chooser may
// be null.
std::optional<Box> decode_jpeg(
    Bytes,
    const DecodeOptions&,
    const WindowChooser*,
    Image& out,
    int& warnings);
void decode_png(Bytes, const DecodeOptions&, Image& out, int& warnings);
void decode_webp(Bytes, const DecodeOptions&, Image& out);
void decode_bmp(Bytes, const DecodeOptions&, Image& out);
void decode_pnm(Bytes, const DecodeOptions&, Image& out, int& warnings);

} // namespace temper::data
