// The second half of a sample's way: from what the source gave, through the
// transforms, into its place in the batch. Shared by the loaders; immutable,
// used by all workers at once.
// Private to data/loader.
#pragma once

#include <cstdint>
#include <memory>

#include "temper/data/loader/sample_layout.h"
#include "temper/data/sample/source.h"
#include "temper/data/transform/place.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

class SampleWriter {
 public:
  SampleWriter(SampleLayout layout, std::shared_ptr<const Augment> augment);

  const SampleLayout& layout() const {
    return layout_;
  }
  // Draws from the stream keyed by (seed, epoch, item). `spare` is scratch.
  // BadSample when the sample does not have the size of the others.
  void operator()(
      Sample& sample,
      Image& spare,
      std::uint64_t seed,
      std::uint32_t epoch,
      std::uint64_t item,
      void* input,
      void* target) const;
  // The part of an image that the transforms will look at.
  class Window final : public WindowChooser {
   public:
    Window(const Transform* first, const RandomStream& random)
        : first_(first), random_(random) {}
    std::optional<Box> choose(int width, int height) const override;

   private:
    const Transform* first_; // null: they look at all of it
    RandomStream random_;
  };
  Window window(std::uint64_t seed, std::uint32_t epoch, std::uint64_t item)
      const;
  // The transforms alone, to see what comes out of them.
  void transform(
      Image& image,
      Image& spare,
      std::uint64_t seed,
      std::uint32_t epoch,
      std::uint64_t item) const;

 private:
  // `windowed`: the image is what window() chose.
  void transform(
      Image& image,
      bool windowed,
      Image& spare,
      const RandomStream& random) const;
  void place_image(const Image& image, const RandomStream& random, void* input)
      const;
  void place_target(const Sample& sample, void* target) const;

  SampleLayout layout_;
  std::shared_ptr<const Augment> augment_; // may be null
  Placer placer_;
};

} // namespace temper::data
