// A value on its way into a field: what was written, checked against what the
// field takes. Used by load.cpp for both TOML and the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "temper/config/fields.h"

namespace temper::config {

using Scalar = std::variant<bool, std::int64_t, double, std::string>;

struct Given {
  std::vector<Scalar> items; // one, unless it is a list
  bool list = false;
  std::vector<std::string> names; // of the items, when it is a table
  std::string written; // as it stands in the file, for errors
};

// Puts the value into the config. When it cannot, the result says what is
// wrong, in words that follow `key = value`; no value: it was put there.
std::optional<std::string>
assign(const Field& field, const Given& given, Config& config);

// Bytes in "4GiB", "1.5 GB", "4096"; no value when the text is none.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// 0.1 as "0.1", 1 as "1.0": the shortest text that reads back the same.
std::string double_text(double value);

} // namespace temper::config
