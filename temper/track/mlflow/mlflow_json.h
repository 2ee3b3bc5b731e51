// The JSON that tracking servers are asked with and answer in.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temper/track/tracker.h"

namespace temper::track {

constexpr const char* kMlflowApi = "/api/2.0/mlflow/";
// The most params or tags that a request may hold.
constexpr std::size_t kMostPairs = 100;

// Unlike a word of JSON, these are not read as 0.
inline nlohmann::json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

inline nlohmann::json pairs(const std::vector<Pair>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const Pair& each : all)
    list.push_back({{"key", each.key}, {"value", each.value}});
  return list;
}

inline std::string dump(const nlohmann::json& body) {
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline std::string text_at(const nlohmann::json& from, const char* name) {
  if (!from.is_object()) return "";
  const auto found = from.find(name);
  if (found == from.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

inline const nlohmann::json& part(
    const nlohmann::json& from,
    const char* name) {
  static const nlohmann::json nothing = nlohmann::json::object();
  if (!from.is_object()) return nothing;
  const auto found = from.find(name);
  return found == from.end() ? nothing : *found;
}

} // namespace temper::track
