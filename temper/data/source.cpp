#include "temper/data/source.h"

#include "temper/base/text.h"

namespace temper::data {

const char* to_string(Input input) {
  switch (input) {
    case Input::image:
      return "image";
    case Input::numbers:
      return "numbers";
    case Input::tokens:
      return "tokens";
  }
  return "";
}

const char* to_string(Target target) {
  switch (target) {
    case Target::label:
      return "label";
    case Target::numbers:
      return "numbers";
    case Target::tokens:
      return "tokens";
  }
  return "";
}

std::optional<std::int64_t> IndexedSource::label(std::int64_t) const {
  return std::nullopt;
}

std::string IndexedSource::describe(std::int64_t index) const {
  return cat(info().name, " sample ", index);
}

std::optional<std::string> StreamSource::save() const {
  return std::nullopt;
}

void StreamSource::load(const std::string&) {
  throw Error(cat("[data] ", info().name, " cannot be resumed in place."));
}

} // namespace temper::data
