// Where real datasets are, for the tests that use them; those skip without.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace temper::data {

// May not exist.
inline std::filesystem::path shared_data() {
  if (const char* folder = std::getenv("TEMPER_SHARED_DATA")) return folder;
  return std::filesystem::path(TEMPER_SOURCE_DIR) / "../shared/data";
}

} // namespace temper::data
