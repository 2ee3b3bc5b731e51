#include "temper/journal/event.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace temper::journal {
namespace {

// Fields keep the order in which they were given: a journal is read by people.
using Ordered = nlohmann::ordered_json;

Ordered json_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

Ordered json_of(const Value& value) {
  struct Convert {
    Ordered operator()(bool yes) const {
      return yes;
    }
    Ordered operator()(std::int64_t number) const {
      return number;
    }
    Ordered operator()(double number) const {
      return json_of(number);
    }
    Ordered operator()(const std::string& text) const {
      return text;
    }
    Ordered operator()(const Json& json) const {
      return Ordered::parse(json.text);
    }
  };
  return std::visit(Convert{}, value);
}

Value value_of(const Ordered& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return Json{json.dump()};
}

std::optional<double> infinite(const std::string& text) {
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return HUGE_VAL;
  if (text == "-Infinity") return -HUGE_VAL;
  return std::nullopt;
}

template <class T>
std::optional<T> as(const Value* value) {
  const T* held = value == nullptr ? nullptr : std::get_if<T>(value);
  return held == nullptr ? std::nullopt : std::optional<T>(*held);
}

} // namespace

const Value* Event::find(std::string_view name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

std::optional<double> Event::number(std::string_view name) const {
  if (const auto whole = count(name)) return static_cast<double>(*whole);
  if (const auto word = text(name)) return infinite(*word);
  return as<double>(find(name));
}

std::optional<std::int64_t> Event::count(std::string_view name) const {
  return as<std::int64_t>(find(name));
}

std::optional<std::string> Event::text(std::string_view name) const {
  return as<std::string>(find(name));
}

std::optional<bool> Event::flag(std::string_view name) const {
  return as<bool>(find(name));
}

std::optional<std::string> Event::json(std::string_view name) const {
  const auto held = as<Json>(find(name));
  return held ? std::optional(held->text) : std::nullopt;
}

std::string to_line(const Event& event) {
  Ordered line;
  line["event"] = event.kind;
  line["time"] = std::round(event.time_s * 1000) / 1000;
  for (const auto& [name, value] : event.fields)
    line[name] = json_of(value);
  // A file name may hold any bytes; a journal holds UTF-8.
  return line.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

std::optional<Event> from_line(std::string_view line) {
  const Ordered json = Ordered::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto kind = json.find("event");
  const auto time = json.find("time");
  if (kind == json.end() || !kind->is_string() || time == json.end() ||
      !time->is_number())
    return std::nullopt;
  Event event{kind->get<std::string>(), time->get<double>(), {}};
  for (const auto& [name, value] : json.items())
    if (name != "event" && name != "time")
      event.fields.emplace_back(name, value_of(value));
  return event;
}

} // namespace temper::journal
