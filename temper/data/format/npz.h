// NumPy's .npz: .npy files in a zip archive, stored or deflated. Stored ones
// stay in the mapped file; the others are unpacked into memory, after their
// announced size was found believable.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "temper/data/format/npy.h"

namespace temper::data {

// The arrays' names, without .npy.
std::vector<std::string> npz_names(const std::filesystem::path& path);

// Error when there is none of that name, or it cannot be read.
NpyArray read_npz(const std::filesystem::path& path, const std::string& name);

} // namespace temper::data
