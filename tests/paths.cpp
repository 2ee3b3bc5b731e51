#include "tests/paths.h"

namespace temper::tests {

std::filesystem::path source_dir() {
  return TEMPER_SOURCE_DIR;
}

std::filesystem::path fixtures() {
  return source_dir() / "tests/fixtures";
}

} // namespace temper::tests
