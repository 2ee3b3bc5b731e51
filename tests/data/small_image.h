// A picture that tests of encoded files write and know again.
#pragma once

#include <string>

namespace temper::data {

// A PPM of one colour; its red says which one it is.
inline std::string small_image(int red, int width = 2, int height = 1) {
  std::string image =
      "P6 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < width * height; ++i)
    image += {static_cast<char>(red), 2, 3};
  return image;
}

} // namespace temper::data
