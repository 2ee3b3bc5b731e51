// MD5 (RFC 1321), for formats whose names are made with it: MLflow calls the
// datasets of a file store by it. For nothing that must resist anybody.
#pragma once

#include <string>
#include <string_view>

namespace temper {

// 32 small hexadecimal digits.
std::string md5_hex(std::string_view text);

} // namespace temper
