// Writes an image as a PNG file, durable or absent.
#pragma once

#include <filesystem>

#include "temper/data/sample/image.h"

namespace temper::data {

// Error when the place cannot be written.
void write_png(const std::filesystem::path& path, const Image& image);

} // namespace temper::data
