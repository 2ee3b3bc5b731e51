#include "temper/config/json_value.h"

#include <toml++/toml.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"

namespace temper::config {
namespace {

using nlohmann::json;

json json_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* number = node.as_floating_point()) {
    const double value = number->get();
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  }
  if (const auto* list = node.as_array()) {
    json made = json::array();
    for (const auto& element : *list)
      made.push_back(json_of(element));
    return made;
  }
  if (const auto* table = node.as_table()) {
    json made = json::object();
    for (const auto& [key, value] : *table)
      made[std::string(key.str())] = json_of(value);
    return made;
  }
  return nullptr; // dates: no key has one
}

} // namespace

std::string json_of_toml(const std::string& value) {
  json made = value;
  try {
    const toml::table read = toml::parse(cat("value = ", value));
    const toml::node* node = read.get("value");
    if (read.size() == 1 && node != nullptr && !json_of(*node).is_null())
      made = json_of(*node);
  } catch (const toml::parse_error&) { // it stays as it stands there
  }
  return made.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace temper::config
