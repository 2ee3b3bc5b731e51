// The last step of a sample: from an image to its slot in a batch, as float32
// (normalised) or bytes, channels last or first, random erasing included. The
// loader has one Placer and calls it from all its workers.
#pragma once

#include <array>
#include <cstdint>

#include "temper/data/sample/image.h"
#include "temper/data/transform/transform.h"
#include "temper/kernels/normalise.h"

namespace temper::data {

// The transforms draw from sub-streams 0, 1, ...; erasing from this one and
// what is done to whole batches from the other.
inline constexpr std::uint8_t kErasingSubstream = 254;
inline constexpr std::uint8_t kBatchSubstream = 255;

class Placer {
 public:
  Placer(const Augment& augment, bool channels_last);

  // `stream` is the sample's own; the image has the augment's channels. A slot
  // has width x height x channels elements.
  void place(const Image& image, const RandomStream& stream, float* slot) const;
  // Erased parts become the mean, rounded to a byte, which the normalisation
  // on the device turns into (nearly) the zeros that the floats get.
  void place(const Image& image, const RandomStream& stream, std::uint8_t* slot)
      const;

 private:
  template <class T>
  void erase(
      const Image& image,
      const RandomStream& stream,
      const T* fill,
      T* slot) const;

  kernels::Normaliser normaliser_;
  double erase_probability_;
  bool channels_last_;
  std::array<std::uint8_t, 3> byte_fill_{};
};

} // namespace temper::data
