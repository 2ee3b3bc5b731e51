// Everything that differs between LibTorch versions (1.13 to 2.14), in one
// place and behind signatures that stay the same. A difference is found by
// looking for the header or the member, not by comparing version numbers.
#pragma once

#include <string>

namespace temper::libtorch {

// Of the headers temper was compiled against.
std::string header_version();

} // namespace temper::libtorch
