// Many samples on one picture, as the augmentation leaves them, with their
// labels below: what `temper data show` writes, to see what a model sees.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "temper/data/image.h"
#include "temper/data/source.h"
#include "temper/data/transform.h"

namespace temper::data {

struct SheetOptions {
  int columns = 8;
  int rows = 6;
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  int tile_pixels = 160; // an image's longer side; small ones grow to fit
  // What stands below a sample instead of its label, by its index.
  struct Caption {
    std::string text;
    bool alarm = false; // in red
  };
  std::function<Caption(std::int64_t)> caption;
};

// The first columns x rows samples of the epoch, in the loader's order and with
// its randomness. A bad sample is a crossed tile. Normalisation is not shown.
// Error when the source has no images.
Image contact_sheet(
    const IndexedSource& source,
    const Augment* augment, // null: as the source gives them
    const SheetOptions& options);

} // namespace temper::data
