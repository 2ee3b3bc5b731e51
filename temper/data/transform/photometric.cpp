#include "temper/data/transform/photometric.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

namespace temper::data {
namespace {

using Table = std::array<std::uint8_t, 256>;

// ITU-R 601 in 16-bit fixed point.
std::uint8_t luminance(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>(
      (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

// From `plain` (factor 0) towards `full` (factor 1) and beyond, truncated.
std::uint8_t blend(int plain, int full, float factor) {
  const float step = factor * static_cast<float>(full - plain);
  const float value = static_cast<float>(plain) + step;
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

Table blend_table(int plain, double factor) {
  Table table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = blend(plain, static_cast<int>(i), static_cast<float>(factor));
  }
  return table;
}

void map_all(Image& image, const Table& table) {
  std::uint8_t* pixels = image.pixels();
  const std::size_t bytes = image.bytes();
  for (std::size_t i = 0; i < bytes; ++i) {
    pixels[i] = table[pixels[i]];
  }
}

// `make` gets the histogram of a channel and returns that channel's table.
template <class Make>
void map_channels(Image& image, const Make& make) {
  const auto channels = static_cast<std::size_t>(image.channels());
  const std::size_t bytes = image.bytes();
  std::uint8_t* pixels = image.pixels();
  for (std::size_t c = 0; c < channels; ++c) {
    std::array<std::int64_t, 256> histogram{};
    for (std::size_t i = c; i < bytes; i += channels) {
      ++histogram[pixels[i]];
    }
    const Table table = make(histogram);
    for (std::size_t i = c; i < bytes; i += channels) {
      pixels[i] = table[pixels[i]];
    }
  }
}

Table unchanged() {
  Table table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(i);
  }
  return table;
}

} // namespace

void adjust_brightness(Image& image, double factor) {
  map_all(image, blend_table(0, factor));
}

void adjust_contrast(Image& image, double factor) {
  const std::uint8_t* pixels = image.pixels();
  const auto channels = static_cast<std::size_t>(image.channels());
  const std::size_t bytes = image.bytes();
  if (bytes == 0) return;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes; i += channels) {
    sum += channels == 3 ? luminance(pixels + i) : pixels[i];
  }
  const double mean =
      static_cast<double>(sum) / static_cast<double>(bytes / channels);
  map_all(image, blend_table(static_cast<int>(mean + 0.5), factor));
}

void adjust_saturation(Image& image, double factor) {
  if (image.channels() == 1) return;
  const auto alpha = static_cast<float>(factor);
  std::uint8_t* pixels = image.pixels();
  const std::size_t bytes = image.bytes();
  for (std::size_t i = 0; i < bytes; i += 3) {
    const int grey = luminance(pixels + i);
    for (std::size_t c = i; c < i + 3; ++c) {
      pixels[c] = blend(grey, pixels[c], alpha);
    }
  }
}

void adjust_sharpness(Image& image, Image& spare, double factor) {
  const auto alpha = static_cast<float>(factor);
  const auto channels = static_cast<std::size_t>(image.channels());
  const std::size_t row_bytes = image.row_bytes();
  spare.reshape(image.width(), image.height(), image.channels());
  // Smoothing leaves the border as it is, so all of it may be copied first.
  std::memcpy(spare.pixels(), image.pixels(), image.bytes());
  for (int y = 1; y + 1 < image.height(); ++y) {
    const std::uint8_t* above = image.row(y - 1);
    const std::uint8_t* here = image.row(y);
    const std::uint8_t* below = image.row(y + 1);
    std::uint8_t* out = spare.row(y);
    for (std::size_t i = channels; i + channels < row_bytes; ++i) {
      const std::size_t l = i - channels;
      const std::size_t r = i + channels;
      const int sum = above[l] + above[i] + above[r] + here[l] + 5 * here[i] +
          here[r] + below[l] + below[i] + below[r];
      // sum / 13, rounded: Pillow's floats agree, as no thirteenth is near
      // a half.
      out[i] = blend((2 * sum + 13) / 26, here[i], alpha);
    }
  }
  std::swap(image, spare);
}

void posterize(Image& image, int bits) {
  Table table{};
  const int mask = ~((1 << (8 - bits)) - 1);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<std::uint8_t>(static_cast<int>(i) & mask);
  }
  map_all(image, table);
}

void solarize(Image& image, double threshold) {
  Table table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bool keeps = static_cast<double>(i) < threshold;
    table[i] = static_cast<std::uint8_t>(keeps ? i : 255 - i);
  }
  map_all(image, table);
}

void invert(Image& image) {
  solarize(image, 0);
}

void autocontrast(Image& image) {
  map_channels(image, [](const auto& histogram) {
    int low = 0;
    int high = 255;
    const auto empty = [&](int i) {
      return histogram[static_cast<std::size_t>(i)] == 0;
    };
    while (low < 255 && empty(low)) {
      ++low;
    }
    while (high > 0 && empty(high)) {
      --high;
    }
    if (high <= low) return unchanged();
    Table table{};
    const double scale = 255.0 / (high - low);
    const double offset = -low * scale;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto value =
          static_cast<int>(static_cast<double>(i) * scale + offset);
      table[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
    return table;
  });
}

void equalize(Image& image) {
  map_channels(image, [](const auto& histogram) {
    std::int64_t sum = 0;
    std::int64_t last = 0;
    for (const auto count : histogram) {
      sum += count;
      if (count != 0) last = count;
    }
    const std::int64_t step = (sum - last) / 255;
    if (step == 0) return unchanged();
    Table table{};
    std::int64_t n = step / 2;
    for (std::size_t i = 0; i < table.size(); ++i) {
      table[i] =
          static_cast<std::uint8_t>(std::min<std::int64_t>(n / step, 255));
      n += histogram[i];
    }
    return table;
  });
}

} // namespace temper::data
