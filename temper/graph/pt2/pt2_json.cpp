#include "temper/graph/pt2/pt2_json.h"

#include <limits>

#include "temper/base/text.h"

namespace temper::graph::pt2 {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kLongestShown = 100;

[[noreturn]] void refuse(const char* what, const char* kind) {
  throw Unreadable(cat("its \"", what, "\" is not ", kind));
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

} // namespace

Json parse_json(std::string_view text, const std::string& name) {
  const auto watch_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kDeepest)
      throw Unreadable(cat(name, " is nested more than ", kDeepest, " deep"));
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch_depth);
  } catch (const Json::parse_error& error) {
    throw Unreadable(cat(name, " is no JSON from byte ", error.byte, " on"));
  } catch (const Json::exception&) { // a number beyond any type
    throw Unreadable(cat(name, " has a number that cannot be read"));
  }
}

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const Json& need(const Json& object, const char* name) {
  const Json* found = find(object, name);
  if (found == nullptr) throw Unreadable(cat("it has no \"", name, "\""));
  return *found;
}

const Json& object_of(const Json& value, const char* what) {
  if (!value.is_object()) refuse(what, "an object");
  return value;
}

const Json& list_of(const Json& value, const char* what) {
  if (!value.is_array()) refuse(what, "a list");
  return value;
}

std::string text_of(const Json& value, const char* what) {
  if (!value.is_string()) refuse(what, "a text");
  return value.get<std::string>();
}

std::string name_of(const Json& value, const char* what) {
  std::string name = text_of(value, what);
  if (name.empty()) refuse(what, "a name: it is empty");
  for (const char c : name)
    if (is_control(c)) refuse(what, "a name: it has control characters");
  return name;
}

std::int64_t int_of(const Json& value, const char* what) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    refuse(what, "within 64 bits");
  if (!value.is_number_integer()) refuse(what, "a whole number");
  return value.get<std::int64_t>();
}

double float_of(const Json& value, const char* what) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  refuse(what, "a number");
}

bool bool_of(const Json& value, const char* what) {
  if (!value.is_boolean()) refuse(what, "true or false");
  return value.get<bool>();
}

Choice choice_of(const Json& value, const char* what) {
  if (!value.is_object() || value.size() != 1)
    refuse(what, "an object of one field");
  const auto only = value.begin();
  return {only.key(), only.value()};
}

std::string shown(std::string_view text) {
  std::string safe(text.substr(0, kLongestShown));
  for (char& c : safe)
    if (is_control(c)) c = '?';
  return text.size() > kLongestShown ? safe + "..." : safe;
}

} // namespace temper::graph::pt2
