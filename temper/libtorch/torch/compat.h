// Differences between LibTorch versions (1.13 to 2.14) that several files need,
// behind signatures that stay the same. A difference is found by looking for
// the header or the member, not by comparing version numbers. Those that
// concern one file only are in that file.
#pragma once

#include <string>

namespace temper::libtorch {

// The version of the headers temper was compiled against.
std::string header_version();

} // namespace temper::libtorch
