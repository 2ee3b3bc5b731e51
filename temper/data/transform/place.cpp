#include "temper/data/transform/place.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "temper/base/error.h"
#include "temper/data/transform/erase.h"
#include "temper/kernels/rearrange.h"

namespace temper::data {

Placer::Placer(const Augment& augment, bool channels_last)
    : normaliser_(augment.channels, augment.mean, augment.deviation),
      erase_probability_(augment.erase_probability),
      channels_last_(channels_last) {
  for (std::size_t c = 0; c < std::min(augment.mean.size(), byte_fill_.size());
       ++c) {
    const double mean =
        std::clamp(static_cast<double>(augment.mean[c]), 0.0, 1.0);
    byte_fill_[c] = static_cast<std::uint8_t>(std::nearbyint(mean * 255));
  }
}

void Placer::place(const Image& image, const RandomStream& stream, float* slot)
    const {
  check(
      image.channels() == normaliser_.channels(),
      "an image has the channels that the augmentation announces");
  const auto pixels =
      image.bytes() / static_cast<std::size_t>(image.channels());
  if (channels_last_) {
    normaliser_.interleaved(image.pixels(), pixels, slot);
  } else {
    normaliser_.planar(image.pixels(), pixels, slot);
  }
  constexpr float kZeros[3] = {};
  erase(image, stream, kZeros, slot);
}

void Placer::place(
    const Image& image,
    const RandomStream& stream,
    std::uint8_t* slot) const {
  check(
      image.channels() == normaliser_.channels(),
      "an image has the channels that the augmentation announces");
  if (channels_last_ || image.channels() == 1) {
    std::memcpy(slot, image.pixels(), image.bytes());
  } else {
    kernels::interleaved_to_planar(image.pixels(), image.bytes() / 3, slot);
  }
  erase(image, stream, byte_fill_.data(), slot);
}

template <class T>
void Placer::erase(
    const Image& image,
    const RandomStream& stream,
    const T* fill,
    T* slot) const {
  if (erase_probability_ == 0) return;
  RandomStream random = stream.substream(kErasingSubstream);
  const auto box =
      choose_erased(image.width(), image.height(), erase_probability_, random);
  if (!box) return;
  const auto width = static_cast<std::size_t>(image.width());
  const auto height = static_cast<std::size_t>(image.height());
  const auto channels = static_cast<std::size_t>(image.channels());
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t step = channels_last_ ? channels : 1;
    T* plane = channels_last_ ? slot + c : slot + c * width * height;
    for (int y = box->top; y < box->top + box->height; ++y) {
      for (int x = box->left; x < box->left + box->width; ++x) {
        const auto at =
            static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
        plane[at * step] = fill[c];
      }
    }
  }
}

} // namespace temper::data
