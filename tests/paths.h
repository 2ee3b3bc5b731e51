// The tree the tests were built from. Not macros, so that a file compiles to
// the same bytes wherever the tree lies.
#pragma once

#include <filesystem>

namespace temper::tests {

std::filesystem::path source_dir();
std::filesystem::path fixtures();

} // namespace temper::tests
