// Folders of images to train on.
#pragma once

#include <filesystem>
#include <string>

#include "temper/base/text.h"
#include "temper/data/codec/png_file.h"
#include "tests/data/picture.h"

namespace temper::torture {

// `count` images in four classes; `most` pixels wide and high at most.
inline void write_images(
    const std::filesystem::path& folder,
    int count,
    int least,
    int most) {
  for (int i = 0; i < count; ++i) {
    const auto to = folder / cat("class", i % 4);
    std::filesystem::create_directories(to);
    const int width = least + i * 7 % (most - least + 1);
    const int height = least + i * 13 % (most - least + 1);
    data::write_png(
        to / cat("image", i, ".png"),
        data::picture(width, height, 3, 1, static_cast<std::uint32_t>(i)));
  }
}

} // namespace temper::torture
