#include "temper/data/sample/source.h"

#include "temper/base/digest/hash.h"
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

void IndexedSource::read_window(
    std::int64_t index,
    const WindowChooser&,
    Sample& sample) const {
  read(index, sample);
}

std::optional<std::int64_t> IndexedSource::label(std::int64_t) const {
  return std::nullopt;
}

std::string IndexedSource::describe(std::int64_t index) const {
  return cat(info().name, " sample ", index);
}

std::uint64_t IndexedSource::fingerprint() const {
  const SourceInfo& about = info();
  Hasher hasher;
  hasher.add(about.name);
  for (const std::int64_t part :
       {size(),
        static_cast<std::int64_t>(about.input),
        static_cast<std::int64_t>(about.target),
        std::int64_t{about.channels},
        std::int64_t{about.height},
        std::int64_t{about.width},
        std::int64_t{about.target_size},
        std::int64_t{about.vocabulary}})
    hasher.add(static_cast<std::uint64_t>(part));
  for (const std::int64_t length : about.shape)
    hasher.add(static_cast<std::uint64_t>(length));
  for (const std::string& name : about.classes)
    hasher.add(name);
  return hasher.value();
}

std::optional<std::string> StreamSource::save() const {
  return std::nullopt;
}

void StreamSource::load(const std::string&) {
  throw Error(cat("[data] ", info().name, " cannot be resumed in place."));
}

} // namespace temper::data
