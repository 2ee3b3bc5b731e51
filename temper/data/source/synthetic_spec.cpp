// The words of `synthetic:SPEC`.
#include <array>
#include <map>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/source/synthetic_source.h"

namespace temper::data {
namespace {

constexpr std::int64_t kMostSynthetic = std::int64_t{1} << 40;

struct Key {
  const char* name;
  const char* belongs_to; // "" for all
  std::int64_t least;
  std::int64_t most;
};
constexpr std::array<Key, 11> kKeys{{
    {"images", "images", 1, kMostSynthetic},
    {"rows", "rows", 1, kMostSynthetic},
    {"tokens", "tokens", 2, kMostSynthetic},
    {"size", "images", 1, 4096},
    {"channels", "images", 1, 3},
    {"classes", "images rows", 2, 65536},
    {"features", "rows", 1, 1 << 20},
    {"targets", "rows", 1, 1024},
    {"vocabulary", "tokens", 2, 65536},
    {"sequence", "tokens", 1, 1 << 20},
    {"seed", "images rows tokens", 0, std::int64_t{1} << 62},
}};

[[noreturn]] void refuse_synthetic(
    const std::string& why,
    const std::string& hint = "") {
  throw Error(
      cat("[data] cannot make synthetic data: ", why, "."),
      hint.empty() ? "For example synthetic:images=1000,size=32,classes=10."
                   : hint);
}

const Key& key_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Key& key : kKeys) {
    if (name == key.name) return key;
    names.emplace_back(key.name);
  }
  const auto close = nearest(name, names);
  refuse_synthetic(
      cat("there is no '", name, "'"),
      close ? cat("Did you mean ", *close, "?")
            : cat("There are ", join(names, ", "), "."));
}

using Values = std::map<std::string, std::int64_t>;

Values values_of(std::string_view spec) {
  Values values;
  for (const auto& word : temper::split(spec, ',')) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      refuse_synthetic(cat("'", word, "' is not of the form key=number"));
    const std::string name(trim(word.substr(0, equals)));
    const Key& key = key_named(name);
    const auto value =
        parse_int(trim(std::string_view(word).substr(equals + 1)));
    if (!value || *value < key.least || *value > key.most)
      refuse_synthetic(
          cat(key.name,
              " is a number from ",
              key.least,
              " to ",
              key.most,
              ", not '",
              word.substr(equals + 1),
              "'"));
    if (!values.emplace(key.name, *value).second)
      refuse_synthetic(cat(key.name, " is given twice"));
  }
  return values;
}

} // namespace

SyntheticSpec parse_synthetic(std::string_view spec, int sequence) {
  const Values values = values_of(spec);
  std::string kind;
  for (const char* name : {"images", "rows", "tokens"})
    if (values.count(name) > 0) {
      if (!kind.empty())
        refuse_synthetic(cat(kind, " and ", name, " exclude each other"));
      kind = name;
    }
  if (kind.empty()) refuse_synthetic("it needs images=, rows= or tokens=");
  for (const auto& [name, value] : values)
    if (!contains(key_named(name).belongs_to, kind))
      refuse_synthetic(cat(name, " does not go with ", kind));
  const auto value = [&](const char* name, std::int64_t otherwise) {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
  };
  const auto number = [&](const char* name, int otherwise) {
    return static_cast<int>(value(name, otherwise));
  };
  SyntheticSpec made;
  made.samples = value(kind.c_str(), 0);
  made.seed = static_cast<std::uint64_t>(value("seed", 0));
  made.size = number("size", made.size);
  made.channels = number("channels", made.channels);
  made.features = number("features", made.features);
  made.targets = number("targets", 0);
  made.vocabulary = number("vocabulary", made.vocabulary);
  made.sequence = number("sequence", sequence);
  made.classes = number("classes", kind == "rows" ? 2 : 10);
  if (made.channels == 2) refuse_synthetic("channels are 1 or 3");
  if (made.targets > 0 && values.count("classes") > 0)
    refuse_synthetic("classes and targets exclude each other");
  if (kind == "rows") {
    made.input = Input::numbers;
    if (made.targets > 0) made.target = Target::numbers;
  } else if (kind == "tokens") {
    made.input = Input::tokens;
    made.target = Target::tokens;
    made.samples /= made.sequence;
    if (made.samples == 0)
      refuse_synthetic(
          cat("there are fewer tokens than a window of ", made.sequence));
  }
  return made;
}

} // namespace temper::data
