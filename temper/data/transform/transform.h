// Transforms: what happens to an image between the source and the batch. A
// transform is immutable and shared by all workers; its randomness comes from a
// stream keyed by (seed, epoch, sample), so that pixels are a pure function of
// those.
//
// All of them give torchvision's pixels on PIL images, bit for bit, for the
// same draws.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/random/philox.h"
#include "temper/data/sample/image.h"

namespace temper::data {

class Transform {
 public:
  virtual ~Transform() = default;
  // Replaces `image`. `spare` is scratch: a transform that cannot work in
  // place writes there and swaps the two.
  virtual void apply(Image& image, Image& spare, RandomStream& random)
      const = 0;
  // The only part of an image of this size that apply() looks at, with the
  // same draws, where that is a box inside of it; no value: all of it.
  virtual std::optional<Box> window(int width, int height, RandomStream random)
      const;
  // Like apply(), given that part alone instead of the image.
  virtual void apply_to_window(Image& image, Image& spare) const;
  // "random_crop(32, padding=4)": for people, and for the pipeline's hash.
  virtual std::string describe() const = 0;
  // Whether it draws. What always does the same says no, and its results may
  // be kept from epoch to epoch.
  virtual bool is_random() const {
    return true;
  }
};

using Transforms = std::vector<std::shared_ptr<const Transform>>;

// Everything between a decoded image and its place in the batch.
struct Augment {
  std::string name; // the preset, "cifar"
  Transforms transforms; // in order; number n draws from sub-stream n
  // Per channel, in units of 0..1: x -> (x - mean) / deviation. Empty: none.
  std::vector<float> mean;
  std::vector<float> deviation;
  // Random erasing after normalisation, as torchvision has it; 0: never.
  double erase_probability = 0;
  // Size of what comes out; 0: as it comes in (all must be equal then).
  int height = 0;
  int width = 0;
  int channels = 3;
  // Length of an image's short side before the crop from the middle, and how
  // it gets there (PIL's name); 0: the size is left alone, or random.
  int short_side = 0;
  std::string filter = "bilinear";

  // The same sample comes out differently in another epoch.
  bool is_random() const;
  // Changes with anything that changes the pixels.
  std::uint64_t hash() const;
};

} // namespace temper::data
