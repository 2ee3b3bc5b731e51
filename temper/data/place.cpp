#include "temper/data/place.h"

#include <cstring>

#include "temper/base/error.h"

namespace temper::data {
namespace {

std::size_t pixels_of(const Image& image) {
  return static_cast<std::size_t>(image.width()) *
      static_cast<std::size_t>(image.height());
}

float statistic(const std::vector<float>& values, int channel, float none) {
  if (values.empty()) return none;
  if (values.size() == 1) return values[0];
  return values[static_cast<std::size_t>(channel)];
}

void interleaved_f32(
    const Image& image,
    const NormaliseTable& table,
    float* out) {
  const std::uint8_t* in = image.pixels();
  const std::size_t pixels = pixels_of(image);
  const float* red = table.channel(0);
  if (image.channels() == 1) {
    for (std::size_t i = 0; i < pixels; ++i)
      out[i] = red[in[i]];
    return;
  }
  const float* green = table.channel(1);
  const float* blue = table.channel(2);
  for (std::size_t i = 0; i < pixels; ++i, in += 3, out += 3) {
    out[0] = red[in[0]];
    out[1] = green[in[1]];
    out[2] = blue[in[2]];
  }
}

} // namespace

NormaliseTable::NormaliseTable(
    int channels,
    const std::vector<float>& mean,
    const std::vector<float>& deviation) {
  const auto fits = [&](const std::vector<float>& values) {
    return values.size() <= 1 ||
        values.size() == static_cast<std::size_t>(channels);
  };
  check(
      channels >= 1 && channels <= 3 && fits(mean) && fits(deviation),
      "a mean and a deviation per channel");
  for (int c = 0; c < channels; ++c) {
    const float middle = statistic(mean, c, 0.0F);
    const float spread = statistic(deviation, c, 1.0F);
    auto& values = values_[static_cast<std::size_t>(c)];
    for (std::size_t v = 0; v < values.size(); ++v)
      values[v] = (static_cast<float>(v) / 255.0F - middle) / spread;
  }
}

void place_u8(const Image& image, bool channels_last, std::uint8_t* out) {
  if (channels_last || image.channels() == 1) {
    std::memcpy(out, image.pixels(), image.bytes());
    return;
  }
  const std::size_t pixels = pixels_of(image);
  const std::uint8_t* in = image.pixels();
  for (std::size_t i = 0; i < pixels; ++i, in += 3) {
    out[i] = in[0];
    out[pixels + i] = in[1];
    out[2 * pixels + i] = in[2];
  }
}

void place_f32(
    const Image& image,
    const NormaliseTable& table,
    bool channels_last,
    float* out) {
  if (channels_last || image.channels() == 1) {
    interleaved_f32(image, table, out);
    return;
  }
  const std::size_t pixels = pixels_of(image);
  const auto channels = static_cast<std::size_t>(image.channels());
  for (std::size_t c = 0; c < channels; ++c) {
    const float* values = table.channel(static_cast<int>(c));
    const std::uint8_t* in = image.pixels() + c;
    float* plane = out + c * pixels;
    for (std::size_t i = 0; i < pixels; ++i)
      plane[i] = values[in[i * channels]];
  }
}

} // namespace temper::data
