#include "temper/data/transform/presets.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/transform/crop.h"
#include "temper/data/transform/flip.h"
#include "temper/data/transform/rand_augment.h"
#include "temper/data/transform/resize.h"

namespace temper::data {
namespace {

constexpr int kImagenetSize = 224;
constexpr double kErase = 0.25; // torchvision's newer recipes: 0.1 to 0.25

struct Size {
  int width;
  int height;
};

template <class T>
void add(Augment& augment, T transform) {
  augment.transforms.push_back(std::make_shared<const T>(std::move(transform)));
}

bool varies(const SourceInfo& source) {
  return source.width == 0 || source.height == 0;
}

// So large, with the proportions kept: the short edge first, then the middle.
// `margin` is how much larger the image is before the crop.
void add_fitting(
    Augment& augment,
    Size size,
    double margin,
    const SourceInfo& source,
    Filter filter) {
  if (source.width == size.width && source.height == size.height) return;
  const int edge = std::max(size.width, size.height);
  augment.short_side = static_cast<int>(std::nearbyint(edge * margin));
  augment.filter = to_string(filter);
  add(augment, Resize::short_edge(augment.short_side, filter));
  add(augment, CentreCrop(size.width, size.height));
}

void add_none(
    Augment& augment,
    Size size,
    const SourceInfo& source,
    Filter filter) {
  if (size.width == 0) return; // whatever comes, all must be equal
  add_fitting(augment, size, 1.0, source, filter);
}

void add_cifar(
    Augment& augment,
    bool train,
    Size size,
    const SourceInfo& source,
    Filter filter) {
  add_fitting(augment, size, 1.0, source, filter);
  if (!train) return;
  // 4 for 32 pixels.
  const int padding = std::max(1, std::min(size.width, size.height) / 8);
  add(augment, RandomCrop(size.width, size.height, padding));
  add(augment, HorizontalFlip());
}

void add_imagenet(
    Augment& augment,
    bool train,
    Size size,
    const SourceInfo& source,
    Filter filter) {
  if (train) {
    add(augment, RandomResizedCrop(size.width, size.height, {}, filter));
    add(augment, HorizontalFlip());
  } else {
    // 256 for 224.
    add_fitting(augment, size, 256.0 / 224.0, source, filter);
  }
}

void add_strong(
    Augment& augment,
    bool train,
    Size size,
    const SourceInfo& source,
    Filter filter) {
  // Small pictures of one size are shifted, photographs are cut.
  const bool small = !varies(source) && source.width <= 64;
  if (small) {
    add_cifar(augment, train, size, source, filter);
  } else {
    add_imagenet(augment, train, size, source, filter);
  }
  if (!train) return;
  add(augment, RandAugment());
  augment.erase_probability = kErase;
}

Size output_size(
    const std::string& preset,
    int image_size,
    const SourceInfo& source) {
  if (image_size > 0) return {image_size, image_size};
  if (!varies(source)) return {source.width, source.height};
  if (preset == "none") return {0, 0};
  return {kImagenetSize, kImagenetSize};
}

void set_normalisation(Augment& augment, const SourceInfo& source) {
  const auto channels = static_cast<std::size_t>(augment.channels);
  if (source.mean.size() == channels && source.deviation.size() == channels) {
    augment.mean = source.mean;
    augment.deviation = source.deviation;
  } else if (channels == 3) {
    augment.mean = {0.485F, 0.456F, 0.406F};
    augment.deviation = {0.229F, 0.224F, 0.225F};
  } else {
    augment.mean = {0.449F}; // the average of ImageNet's channels
    augment.deviation = {0.226F};
  }
}

} // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets{
      {"none", "the images as they are, resized where data.image_size asks"},
      {"cifar", "random crop with padding (4 for 32 pixels) and flip"},
      {"imagenet", "random resized crop and flip; 256 to 224 in validation"},
      {"strong", "crop and flip, RandAugment, random erasing"},
  };
  return kPresets;
}

Augment make_augment(
    const std::string& preset,
    bool train,
    int image_size,
    const SourceInfo& source,
    Filter filter) {
  std::vector<std::string> names;
  for (const auto& known : presets()) {
    names.push_back(known.name);
  }
  if (std::find(names.begin(), names.end(), preset) == names.end()) {
    const auto close = nearest(preset, names);
    throw Error(
        cat("[data] unknown augmentation \"", preset, "\"."),
        close ? cat("Did you mean \"", *close, "\"?")
              : cat("There are ", join(names, ", "), "."));
  }
  if (source.input != Input::image) {
    throw Error(
        cat("[data] ", source.name, " has no images to augment."),
        "data.augment is for images; leave it at \"none\".");
  }
  const Size size = output_size(preset, image_size, source);
  Augment augment;
  augment.name = preset;
  augment.channels = source.channels;
  augment.width = size.width;
  augment.height = size.height;
  set_normalisation(augment, source);
  if (preset == "none") add_none(augment, size, source, filter);
  if (preset == "cifar") add_cifar(augment, train, size, source, filter);
  if (preset == "imagenet") add_imagenet(augment, train, size, source, filter);
  if (preset == "strong") add_strong(augment, train, size, source, filter);
  return augment;
}

} // namespace temper::data
