#include "temper/data/inspect/sheet_samples.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/data/loader/order.h"
#include "temper/data/transform/resize.h"

namespace temper::data {
namespace {

std::string label_text(const SourceInfo& info, const Sample& sample) {
  switch (info.target) {
    case Target::label: {
      const auto label = static_cast<std::size_t>(sample.label);
      return label < info.classes.size() ? info.classes[label]
                                         : cat(sample.label);
    }
    case Target::numbers:
      return sample.target_numbers.empty()
          ? ""
          : decimals(static_cast<double>(sample.target_numbers[0]), 3);
    case Target::tokens:
      break;
  }
  return "";
}

void apply(
    const Augment& augment,
    const RandomStream& random,
    Image& image,
    Image& spare) {
  for (std::size_t n = 0; n < augment.transforms.size(); ++n) {
    auto own = random.substream(static_cast<std::uint8_t>(n));
    augment.transforms[n]->apply(image, spare, own);
  }
}

void make_smaller(Image& image, int largest, Image& spare) {
  const int longer = std::max(image.width(), image.height());
  if (longer <= largest) return;
  const auto part = [&](int side) {
    return std::max(1, static_cast<int>(std::int64_t{side} * largest / longer));
  };
  resize_window(
      image,
      {0, 0, image.width(), image.height()},
      part(image.width()),
      part(image.height()),
      Filter::bilinear,
      spare);
  std::swap(image, spare);
}

} // namespace

std::vector<SheetSample> sheet_samples(
    const IndexedSource& source,
    const Augment* augment,
    const SheetOptions& options) {
  const auto& info = source.info();
  if (info.input != Input::image)
    throw Error(
        cat("[data] ",
            info.name,
            " has no images to show, but ",
            to_string(info.input),
            "."));
  if (source.size() == 0)
    throw Error(cat("[data] ", info.name, " has no samples to show."));
  const Order order(source.size(), true, options.seed, options.epoch);
  const auto count = std::min<std::int64_t>(options.count, source.size());
  std::vector<SheetSample> shown;
  Sample sample;
  Image spare;
  for (std::int64_t i = 0; i < count; ++i) {
    SheetSample made;
    made.index = order.index(i);
    try {
      source.read(made.index, sample);
      if (augment != nullptr)
        apply(
            *augment,
            RandomStream(
                options.seed,
                options.epoch,
                static_cast<std::uint64_t>(made.index)),
            sample.image,
            spare);
      make_smaller(sample.image, options.largest, spare);
      made.label = label_text(info, sample);
      made.image = std::exchange(sample.image, {});
    } catch (const BadSample&) {
      made.image = {};
    }
    shown.push_back(std::move(made));
  }
  return shown;
}

} // namespace temper::data
