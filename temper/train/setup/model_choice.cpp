#include "temper/train/setup/model_choice.h"

#include "temper/base/error.h"
#include "temper/data/fetch/pretrained.h"

namespace temper::train {
namespace {

// From this size on a network that shrinks its input early is wanted.
constexpr std::int64_t kLargeImage = 96;

// Colour images from this size on show things rather than marks; a residual
// network with a first layer for small images learns them, which one
// convolution does not (docs/defaults.md has the figures).
constexpr std::int64_t kSmallPhoto = 24;

// The widest network whose epoch takes about five minutes of one core at most:
// an image of 32 x 32 takes 65, 17 or 6 ms at these widths. A generator does
// not say how many samples it has.
double small_photo_width(std::int64_t samples, std::int64_t size) {
  constexpr std::int64_t kFull = 5'000;
  constexpr std::int64_t kHalf = 20'000;
  const std::int64_t images = samples * size * size / (32 * 32);
  if (samples == 0 || images > kHalf) return 0.25;
  return images > kFull ? 0.5 : 1;
}

ModelChoice choice_for_images(
    std::int64_t channels,
    std::int64_t size,
    std::int64_t samples) {
  if (size >= kLargeImage) return {.name = kPhotoModel};
  if (channels >= 3 && size >= kSmallPhoto) {
    const double width = small_photo_width(samples, size);
    return {
        .name = kPhotoModel,
        .stem = "cifar",
        .width = width,
        .narrowed = width < 1};
  }
  return {.name = "cnn"};
}

// Arrays of numbers that an image network takes.
bool is_square_image(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMostChannels = 4;
  constexpr std::int64_t kSmallest = 8;
  return shape.size() == 3 && shape[0] <= kMostChannels &&
      shape[1] == shape[2] && shape[1] >= kSmallest;
}

ModelChoice choice_for(const RunData& data) {
  const auto& shape = data.input_shape;
  switch (data.info.input) {
    case data::Input::image:
      return choice_for_images(shape.at(0), shape.at(1), data.train_samples);
    case data::Input::numbers:
      if (is_square_image(shape))
        return choice_for_images(shape[0], shape[1], data.train_samples);
      return {.name = "mlp"};
    case data::Input::tokens:
      return {.name = "gpt_tiny"};
  }
  throw Bug("an input outside the table");
}

} // namespace

ModelChoice choose_zoo_model(
    const config::Config& config,
    const RunData& data) {
  const auto& asked = config.model;
  if (!asked.name.empty())
    return {.name = asked.name, .stem = asked.stem, .width = asked.width};
  ModelChoice choice = choice_for(data);
  if (choice.name == kPhotoModel && data::is_pretrained_name(asked.weights))
    choice = {.name = kPhotoModel};
  if (!asked.stem.empty()) choice.stem = asked.stem;
  if (asked.width != 1) {
    choice.width = asked.width;
    choice.narrowed = false;
  }
  return choice;
}

} // namespace temper::train
