// A small .npy file, and those that NumPy wrote for the tests.
#pragma once

#include <filesystem>
#include <string>

#include "temper/base/text.h"
#include "tests/data/format_bytes.h"
#include "tests/paths.h"

namespace temper::data {

inline std::filesystem::path array_fixture(const std::string& name) {
  return tests::fixtures() / "arrays" / name;
}

inline std::string npy_file(
    const std::string& type,
    const std::string& shape,
    const std::string& data = "",
    bool fortran = false) {
  const std::string header =
      cat("{'descr': '",
          type,
          "', 'fortran_order': ",
          fortran ? "True" : "False",
          ", 'shape': ",
          shape,
          ", }");
  return "\x93NUMPY" + byte(1) + byte(0) +
      byte(static_cast<int>(header.size())) + byte(0) + header + data;
}

} // namespace temper::data
