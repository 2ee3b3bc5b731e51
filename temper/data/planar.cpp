#include "temper/data/planar.h"

#include <cstring>

#include "temper/base/error.h"

namespace temper::data {

void interleave_planes(
    const std::uint8_t* planes,
    std::size_t pixels,
    int channels,
    std::uint8_t* interleaved) {
  check(channels == 1 || channels == 3, "one or three planes");
  if (channels == 1) {
    std::memcpy(interleaved, planes, pixels);
    return;
  }
  const std::uint8_t* red = planes;
  const std::uint8_t* green = planes + pixels;
  const std::uint8_t* blue = planes + 2 * pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    interleaved[3 * i] = red[i];
    interleaved[3 * i + 1] = green[i];
    interleaved[3 * i + 2] = blue[i];
  }
}

} // namespace temper::data
