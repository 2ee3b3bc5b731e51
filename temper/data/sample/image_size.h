// The size of images that a source does not know before it reads them: files
// in folders and archives.
#pragma once

#include <cstdint>
#include <string>

#include "temper/data/sample/source.h"

namespace temper::data {

struct ImageSize {
  int width = 0; // 0: they differ, or none could be read
  int height = 0;
  std::int64_t samples = 0; // that were looked at
  // Two that differ: "a.png is 32 x 32 and b.png 40 x 28"; empty: none do.
  std::string difference;
};

// Reads at most `most` samples, spread over the source; bad ones say nothing.
ImageSize probe_image_size(const IndexedSource& source, std::int64_t most = 32);

} // namespace temper::data
