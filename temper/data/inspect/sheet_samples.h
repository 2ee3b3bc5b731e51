// The first samples of an epoch as the augmentation leaves them, with what
// their labels say: what a contact sheet shows, to see what a model sees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/data/sample/image.h"
#include "temper/data/sample/source.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

struct SheetOptions {
  int count = 48;
  int largest = 224; // an image's longer side; larger ones are made smaller
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
};

struct SheetSample {
  std::int64_t index = 0;
  Image image; // empty: the sample cannot be read
  std::string label;
};

// Samples in the loader's order and with its randomness. Normalisation is left
// out. Error when the source has no images.
std::vector<SheetSample> sheet_samples(
    const IndexedSource& source,
    const Augment* augment, // null: as the source gives them
    const SheetOptions& options);

} // namespace temper::data
