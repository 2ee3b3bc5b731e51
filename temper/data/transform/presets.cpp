#include "temper/data/transform/presets.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/transform/colour.h"
#include "temper/data/transform/crop.h"
#include "temper/data/transform/flip.h"
#include "temper/data/transform/rand_augment.h"
#include "temper/data/transform/resize.h"

namespace temper::data {
namespace {

constexpr int kImagenetSize = 224;
constexpr double kErase = 0.25; // torchvision's newer recipes: 0.1 to 0.25
// Brightness, contrast, saturation and hue, as most recipes have them.
constexpr JitterRange kJitter{0.4, 0.4, 0.4, 0.1};

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

// The facts that a part of an augmentation knows.
struct Frame {
  bool train;
  Size size; // of what comes out; 0: as it comes in
  const SourceInfo& source;
  Filter filter;
};

void add_none(Augment& augment, const Frame& frame) {
  if (frame.size.width == 0) return; // whatever comes, all must be equal
  add_fitting(augment, frame.size, 1.0, frame.source, frame.filter);
}

void add_cifar(Augment& augment, const Frame& frame) {
  const Size size = frame.size;
  add_fitting(augment, size, 1.0, frame.source, frame.filter);
  if (!frame.train) return;
  // 4 for 32 pixels.
  const int padding = std::max(1, std::min(size.width, size.height) / 8);
  add(augment, RandomCrop(size.width, size.height, padding));
  add(augment, HorizontalFlip());
}

void add_imagenet(Augment& augment, const Frame& frame) {
  const Size size = frame.size;
  if (frame.train) {
    add(augment, RandomResizedCrop(size.width, size.height, {}, frame.filter));
    add(augment, HorizontalFlip());
  } else {
    // 256 for 224.
    add_fitting(augment, size, 256.0 / 224.0, frame.source, frame.filter);
  }
}

void add_strong(Augment& augment, const Frame& frame) {
  // Small pictures of one size are shifted, photographs are cut.
  const bool small = !varies(frame.source) && frame.source.width <= 64;
  if (small) {
    add_cifar(augment, frame);
  } else {
    add_imagenet(augment, frame);
  }
  if (!frame.train) return;
  add(augment, RandAugment());
  augment.erase_probability = kErase;
}

void add_jitter(Augment& augment, const Frame& frame) {
  if (frame.train) add(augment, ColourJitter(kJitter));
}

struct Part {
  Preset shown;
  // It says which part of an image is seen and how large it becomes.
  bool frames;
  void (*add)(Augment&, const Frame&);
};

const std::vector<Part>& parts() {
  static const std::vector<Part> kParts{
      {{"none", "the images as they are, resized where data.image_size asks"},
       true,
       add_none},
      {{"cifar", "random crop with padding (4 for 32 pixels) and flip"},
       true,
       add_cifar},
      {{"imagenet", "random resized crop and flip; 256 to 224 in validation"},
       true,
       add_imagenet},
      {{"strong", "crop and flip, RandAugment, random erasing"},
       true,
       add_strong},
      {{"jitter", "brightness, contrast, saturation and hue, at random"},
       false,
       add_jitter},
  };
  return kParts;
}

const Part& part_of(const std::string& name) {
  std::vector<std::string> names;
  for (const Part& part : parts()) {
    if (part.shown.name == name) return part;
    names.push_back(part.shown.name);
  }
  const auto close = nearest(name, names);
  throw Error(
      cat("[data] unknown augmentation \"", name, "\"."),
      close ? cat("Did you mean \"", *close, "\"?")
            : cat("There are ", join(names, ", "), "."));
}

// In the order of the names, behind "none" where none of them frames.
std::vector<const Part*> parts_of(const std::vector<std::string>& names) {
  std::vector<const Part*> found;
  const Part* frame = nullptr;
  for (const std::string& name : names) {
    const Part& part = part_of(name);
    if (std::find(found.begin(), found.end(), &part) != found.end())
      throw Error(
          cat("[data] \"", name, "\" stands twice in data.augment."),
          "Name it once.");
    if (part.frames && frame != nullptr)
      throw Error(
          cat("[data] data.augment has \"",
              frame->shown.name,
              "\" and \"",
              name,
              "\", and each of them says how images are cut."),
          "Take one of them, and what only changes colours: jitter.");
    if (part.frames) frame = &part;
    found.push_back(&part);
  }
  if (frame == nullptr) found.insert(found.begin(), &part_of("none"));
  return found;
}

Size output_size(bool own_size, int image_size, const SourceInfo& source) {
  if (image_size > 0) return {image_size, image_size};
  if (!varies(source)) return {source.width, source.height};
  if (!own_size) return {0, 0};
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
  static const std::vector<Preset> kPresets = [] {
    std::vector<Preset> shown;
    for (const Part& part : parts())
      shown.push_back(part.shown);
    return shown;
  }();
  return kPresets;
}

bool has_own_size(const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [](const std::string& name) {
    return part_of(name).frames && name != "none";
  });
}

Augment make_augment(
    const std::vector<std::string>& names,
    bool train,
    int image_size,
    const SourceInfo& source,
    Filter filter) {
  const auto parts = parts_of(names);
  if (source.input != Input::image) {
    throw Error(
        cat("[data] ", source.name, " has no images to augment."),
        "data.augment is for images; leave it at \"none\".");
  }
  const Size size = output_size(has_own_size(names), image_size, source);
  Augment augment;
  augment.name = join(names, ", ");
  augment.channels = source.channels;
  augment.width = size.width;
  augment.height = size.height;
  set_normalisation(augment, source);
  for (const Part* part : parts)
    part->add(augment, {train, size, source, filter});
  return augment;
}

} // namespace temper::data
