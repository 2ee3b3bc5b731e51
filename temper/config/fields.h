// The one table of config keys: name, where it lives, limits, one line of help.
// The loader, `temper help config`, the resolved config.toml and
// docs/configuration.md are all made from it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "temper/config/config.h"

namespace temper::config {

using Slot = std::variant<
    bool*,
    std::int64_t*,
    double*,
    std::string*,
    AutoCount*,
    AutoBytes*,
    Words*,
    Names*,
    std::vector<std::string>*,
    std::vector<std::int64_t>*,
    std::vector<double>*>;

struct Field {
  const char* key; // "train.batch"
  const char* help; // one line
  Slot (*slot)(Config&);
  // The range of a number, and of each number of a list.
  double low = 0;
  double high = 0; // equal to low: no limits
  // The values that a text, or each word of a table or a list of names, may
  // have; empty: any.
  std::vector<std::string> choices = {};
};

// All fields, in the order in which they are printed.
const std::vector<Field>& fields();
// The field of that key; null when there is no such key.
const Field* find_field(const std::string& key);
std::vector<std::string> keys();
// Error with the key that was probably meant. `from` says where it stands;
// empty: nowhere.
[[noreturn]] void unknown_key(const std::string& key, const std::string& from);

// The value as TOML has it: 64, "auto", [0.9, 0.999].
std::string value_text(const Field& field, const Config& config);
// "a whole number from 1 to 1048576, or auto": for help and errors.
std::string expected_text(const Field& field);

} // namespace temper::config
