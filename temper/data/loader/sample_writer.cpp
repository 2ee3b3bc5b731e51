#include "temper/data/loader/sample_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "temper/base/text.h"

namespace temper::data {
namespace {

// Sub-streams are counted in 8 bit, and the last ones are taken (place.h).
constexpr std::size_t kMostTransforms = 250;

Placer placer_for(const SampleLayout& layout, const Augment* augment) {
  Augment plain; // no normalisation, no erasing
  plain.channels = std::clamp(layout.channels, 1, 3);
  return {augment == nullptr ? plain : *augment, layout.channels_last};
}

template <class Number>
void place_list(
    const std::vector<Number>& from,
    std::size_t count,
    const char* what,
    void* to) {
  if (from.size() != count)
    throw BadSample(
        cat("[data] ",
            what,
            " of ",
            from.size(),
            " where the others have ",
            count,
            "."));
  std::memcpy(to, from.data(), count * sizeof(Number));
}

std::string extent_text(int width, int height, int channels) {
  return cat(width, " x ", height, " with ", plural(channels, "channel"));
}

} // namespace

SampleWriter::SampleWriter(
    SampleLayout layout,
    std::shared_ptr<const Augment> augment)
    : layout_(std::move(layout)),
      augment_(std::move(augment)),
      placer_(placer_for(layout_, augment_.get())) {
  if (augment_ && augment_->transforms.size() > kMostTransforms)
    throw Error(
        cat("[data] more than ", kMostTransforms, " transforms in a row."));
}

void SampleWriter::transform(
    Image& image,
    Image& spare,
    std::uint64_t seed,
    std::uint32_t epoch,
    std::uint64_t item) const {
  transform(image, false, spare, RandomStream(seed, epoch, item));
}

void SampleWriter::transform(
    Image& image,
    bool windowed,
    Image& spare,
    const RandomStream& random) const {
  if (!augment_) return;
  std::uint8_t number = 0;
  for (const auto& transform : augment_->transforms) {
    RandomStream own = random.substream(number++);
    if (std::exchange(windowed, false))
      transform->apply_to_window(image, spare);
    else
      transform->apply(image, spare, own);
  }
}

std::optional<Box> SampleWriter::Window::choose(int width, int height) const {
  if (first_ == nullptr) return std::nullopt;
  return first_->window(width, height, random_.substream(0));
}

SampleWriter::Window SampleWriter::window(
    std::uint64_t seed,
    std::uint32_t epoch,
    std::uint64_t item) const {
  const bool any = augment_ && !augment_->transforms.empty();
  return {
      any ? augment_->transforms.front().get() : nullptr,
      RandomStream(seed, epoch, item)};
}

void SampleWriter::operator()(
    Sample& sample,
    Image& spare,
    std::uint64_t seed,
    std::uint32_t epoch,
    std::uint64_t item,
    void* input,
    void* target) const {
  switch (layout_.input) {
    case Input::image:
      transform(
          sample.image,
          sample.window.has_value(),
          spare,
          RandomStream(seed, epoch, item));
      place_image(sample.image, RandomStream(seed, epoch, item), input);
      break;
    case Input::numbers:
      place_list(sample.numbers, layout_.input_count, "numbers", input);
      break;
    case Input::tokens:
      place_list(sample.tokens, layout_.input_count, "tokens", input);
      break;
  }
  place_target(sample, target);
}

void SampleWriter::place_image(
    const Image& image,
    const RandomStream& random,
    void* input) const {
  const int height = layout_.height;
  const int width = layout_.width;
  const int channels = layout_.channels;
  if (image.height() != height || image.width() != width ||
      image.channels() != channels)
    throw BadSample(
        cat("[data] an image of ",
            extent_text(image.width(), image.height(), image.channels()),
            " in batches of ",
            extent_text(width, height, channels),
            "."),
        image.channels() != channels
            ? "Give all images the same number of channels: grey or RGB."
            : "Images of different sizes need data.image_size, or an "
              "augmentation that resizes them.");
  if (layout_.element == Element::u8)
    placer_.place(image, random, static_cast<std::uint8_t*>(input));
  else
    placer_.place(image, random, static_cast<float*>(input));
}

void SampleWriter::place_target(const Sample& sample, void* target) const {
  switch (layout_.target) {
    case Target::label:
      if (layout_.classes > 0 &&
          (sample.label < 0 || sample.label >= layout_.classes))
        throw BadSample(
            cat("[data] the label ",
                sample.label,
                " where there are ",
                layout_.classes,
                " classes."));
      std::memcpy(target, &sample.label, sizeof(sample.label));
      break;
    case Target::numbers:
      place_list(sample.target_numbers, layout_.target_count, "target", target);
      break;
    case Target::tokens:
      place_list(sample.target_tokens, layout_.target_count, "target", target);
      break;
  }
}

} // namespace temper::data
