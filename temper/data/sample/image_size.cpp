#include "temper/data/sample/image_size.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::data {

ImageSize probe_image_size(const IndexedSource& source, std::int64_t most) {
  const std::int64_t count = std::min(most, source.size());
  ImageSize found;
  std::string first;
  Sample sample;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index =
        count > 1 ? i * (source.size() - 1) / (count - 1) : 0;
    try {
      source.read(index, sample);
    } catch (const BadSample&) {
      continue;
    }
    const Image& image = sample.image;
    ++found.samples;
    if (found.samples == 1) {
      found.width = image.width();
      found.height = image.height();
      first = source.describe(index);
    } else if (image.width() != found.width || image.height() != found.height) {
      found.difference =
          cat(first,
              " is ",
              found.width,
              " x ",
              found.height,
              " and ",
              source.describe(index),
              " ",
              image.width(),
              " x ",
              image.height());
      found.width = 0;
      found.height = 0;
      break;
    }
  }
  return found;
}

} // namespace temper::data
