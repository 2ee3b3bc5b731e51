#include "temper/data/loader/sample_layout.h"

#include <limits>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

// More in one sample is a mistake; it also keeps every product far from the
// end of 64 bits.
constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 32;

std::size_t count_of(const std::vector<std::int64_t>& shape, const char* what) {
  std::uint64_t count = 1;
  for (const auto extent : shape) {
    if (extent < 1 || static_cast<std::uint64_t>(extent) > kMostNumbers / count)
      throw Error(cat("[data] ", what, " of a size that cannot be loaded."));
    count *= static_cast<std::uint64_t>(extent);
  }
  return static_cast<std::size_t>(count);
}

std::size_t up_to(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void refuse_transforms(const SourceInfo& info, const Augment* augment) {
  if (augment == nullptr) return;
  if (augment->transforms.empty() && augment->erase_probability == 0) return;
  throw Error(
      cat("[data] the augmentation \"",
          augment->name,
          "\" is for images, and ",
          info.name,
          " has ",
          to_string(info.input),
          "."),
      "Set data.augment = \"none\".");
}

void check_statistics(const Augment& augment) {
  const auto channels = static_cast<std::size_t>(augment.channels);
  const auto fits = [&](const std::vector<float>& values) {
    return values.size() <= 1 || values.size() == channels;
  };
  if (fits(augment.mean) && fits(augment.deviation)) return;
  throw Error(
      cat("[data] the augmentation \"",
          augment.name,
          "\" normalises ",
          augment.mean.size(),
          " channels, and its images have ",
          channels,
          "."));
}

} // namespace

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::u8:
      return 1;
    case Element::f32:
      return 4;
    case Element::i64:
      return 8;
  }
  return 0;
}

std::size_t SampleLayout::target_bytes() const {
  return target_count *
      (target == Target::numbers ? sizeof(float) : sizeof(std::int64_t));
}

std::size_t SampleLayout::targets_offset(int batch) const {
  constexpr std::size_t kLine = 64;
  return up_to(static_cast<std::size_t>(batch) * input_bytes(), kLine);
}

std::size_t SampleLayout::batch_bytes(int batch) const {
  const auto targets = static_cast<std::size_t>(batch) * target_bytes();
  return up_to(targets_offset(batch) + targets, kPageBytes);
}

void set_image_size(SampleLayout& layout, int height, int width, int channels) {
  layout.height = height;
  layout.width = width;
  layout.channels = channels;
  if (layout.channels_last)
    layout.shape = {height, width, channels};
  else
    layout.shape = {channels, height, width};
  layout.input_count = count_of(layout.shape, "an image");
}

SampleLayout layout_of(
    const SourceInfo& info,
    const Augment* augment,
    Element element,
    bool channels_last) {
  SampleLayout layout;
  layout.input = info.input;
  layout.target = info.target;
  layout.channels_last = channels_last;
  layout.classes = static_cast<int>(info.classes.size());
  if (info.target != Target::label)
    layout.target_count = count_of({info.target_size}, "a target");
  if (info.input != Input::image) {
    refuse_transforms(info, augment);
    layout.element = info.input == Input::tokens ? Element::i64 : Element::f32;
    layout.shape = info.shape;
    layout.input_count = count_of(info.shape, "an input");
    return layout;
  }
  if (element == Element::i64)
    throw Error("[data] images are loaded as u8 or f32.");
  layout.element = element;
  layout.channels = info.channels;
  layout.height = info.height;
  layout.width = info.width;
  if (augment != nullptr) {
    check_statistics(*augment);
    layout.channels = augment->channels;
    if (augment->height > 0 && augment->width > 0) {
      layout.height = augment->height;
      layout.width = augment->width;
    }
  }
  const bool unchanged = augment == nullptr || augment->transforms.empty();
  if (unchanged && info.channels > 0 && layout.channels != info.channels)
    throw Error(
        cat("[data] the images of ",
            info.name,
            " have ",
            plural(info.channels, "channel"),
            ", and ",
            plural(layout.channels, "channel"),
            layout.channels == 1 ? " is" : " are",
            " expected, as those of training have."),
        layout.channels == 1 ? "Convert them to grey."
                             : "Convert them to RGB.");
  if (layout.height > 0 && layout.width > 0 && layout.channels > 0)
    set_image_size(layout, layout.height, layout.width, layout.channels);
  return layout;
}

} // namespace temper::data
