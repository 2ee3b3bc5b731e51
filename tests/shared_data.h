// Where the real datasets are, for tests that skip without them.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/paths.h"

namespace temper::tests {

inline std::filesystem::path shared_data() {
  const char* set = std::getenv("TEMPER_SHARED_DATA");
  if (set != nullptr) return set;
  return source_dir() / ".." / "shared" / "data";
}

// Photographs in class folders.
inline std::filesystem::path photographs() {
  return shared_data() / "imagenette-mini";
}

} // namespace temper::tests
