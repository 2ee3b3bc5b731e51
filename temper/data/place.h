// Pixels into their place in a batch: as bytes or normalised to float, rows of
// pixels (HWC) or planes of channels (CHW). Plain loops on plain pointers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "temper/data/image.h"

namespace temper::data {

// What each byte becomes, per channel: x / 255, then (x - mean) / deviation,
// each rounded to float as torchvision's ToTensor and Normalize do.
class NormaliseTable {
 public:
  // Empty statistics: x / 255 alone. One number stands for every channel.
  NormaliseTable(
      int channels,
      const std::vector<float>& mean,
      const std::vector<float>& deviation);

  const float* channel(int number) const {
    return values_[static_cast<std::size_t>(number)].data();
  }

 private:
  std::array<std::array<float, 256>, 3> values_{};
};

void place_u8(const Image& image, bool channels_last, std::uint8_t* out);

void place_f32(
    const Image& image,
    const NormaliseTable& table,
    bool channels_last,
    float* out);

} // namespace temper::data
