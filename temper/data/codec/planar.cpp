#include "temper/data/codec/planar.h"

#include <cstring>

#include "temper/base/error.h"
#include "temper/kernels/rearrange.h"

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
  kernels::planar_to_interleaved(planes, pixels, interleaved);
}

} // namespace temper::data
