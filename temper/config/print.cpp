#include "temper/config/print.h"

#include <algorithm>
#include <functional>

#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/config/values.h"

namespace temper::config {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      constexpr const char* kHex = "0123456789ABCDEF";
      out += cat("\\u00", kHex[code >> 4], kHex[code & 15]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string one(bool value) {
  return value ? "true" : "false";
}
std::string one(std::int64_t value) {
  return std::to_string(value);
}
std::string one(double value) {
  return double_text(value);
}
std::string one(const std::string& value) {
  return quoted(value);
}
std::string one(const AutoCount& value) {
  return value ? one(*value) : quoted("auto");
}
// Bytes that a unit divides are written with it.
std::string one(const AutoBytes& value) {
  if (!value.bytes) return quoted("auto");
  const std::uint64_t bytes = *value.bytes;
  for (const auto& [shift, unit] :
       {std::pair{30, "GiB"}, std::pair{20, "MiB"}, std::pair{10, "KiB"}})
    if (bytes % (std::uint64_t{1} << shift) == 0)
      return quoted(cat(bytes >> shift, unit));
  return one(static_cast<std::int64_t>(bytes));
}
bool bare(const std::string& key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') ||
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}
std::string one(const Words& words) {
  std::vector<std::string> parts;
  for (const auto& [name, word] : words)
    parts.push_back(cat(bare(name) ? name : quoted(name), " = ", quoted(word)));
  return cat("{", join(parts, ", "), "}");
}
template <class T>
std::string one(const std::vector<T>& values) {
  std::vector<std::string> parts;
  for (const auto& value : values)
    parts.push_back(one(value));
  return cat("[", join(parts, ", "), "]");
}

std::string one(const Names& names) {
  return names.list.size() == 1 ? one(names.list[0]) : one(names.list);
}

std::string number_range(const Field& field, const std::string& noun) {
  if (field.low == field.high) return noun;
  const auto shown = [](double limit) {
    std::string text = double_text(limit);
    if (text.size() > 2 && text.substr(text.size() - 2) == ".0")
      text.resize(text.size() - 2);
    return text;
  };
  // An upper limit that only guards against overflow says nothing.
  if (field.high >= 1e15) return cat(noun, " from ", shown(field.low), " up");
  return cat(noun, " from ", shown(field.low), " to ", shown(field.high));
}

struct Expected {
  const Field& field;

  std::string operator()(const bool*) const {
    return "true or false";
  }
  std::string operator()(const std::int64_t*) const {
    return number_range(field, "a whole number");
  }
  std::string operator()(const double*) const {
    return number_range(field, "a number");
  }
  std::string operator()(const Names*) const {
    return cat("one of ", join(field.choices, ", "), ", or a list of them");
  }
  std::string operator()(const std::string*) const {
    if (field.choices.empty()) return "text";
    std::vector<std::string> words;
    for (const std::string& choice : field.choices)
      words.push_back(choice.empty() ? "\"\"" : choice);
    return cat("one of ", join(words, ", "));
  }
  std::string operator()(const AutoCount*) const {
    return cat(number_range(field, "a whole number"), ", or auto");
  }
  std::string operator()(const AutoBytes*) const {
    return "an amount of memory such as \"4GiB\", or auto";
  }
  std::string operator()(const Words*) const {
    if (field.choices.empty()) return "a table of texts";
    return cat("a table, each one of ", join(field.choices, ", "));
  }
  std::string operator()(const std::vector<std::string>*) const {
    return "a list of texts";
  }
  std::string operator()(const std::vector<std::int64_t>*) const {
    return cat("a list of ", number_range(field, "whole numbers"));
  }
  std::string operator()(const std::vector<double>*) const {
    return cat("a list of ", number_range(field, "numbers"));
  }
};

constexpr const char* kPageHead = R"(# Configuration

A config is a TOML file. What it leaves out has the default below; flags and
`--set KEY=VALUE` go over it. [configs](../configs) has some to start from, and
the `config.toml` of a run has every key.

```sh
temper train configs/cifar10-resnet18.toml --epochs 5 --set train.clip=1
```

An unknown key or a value out of range is refused with its file, its line and
the nearest one there is. `auto` leaves the choice to temper.

This page is made from the table of the keys: `temper help config --markdown`.
)";

// "train" of "train.batch"; empty for the keys at the top.
std::string section_of(const std::string& key) {
  const auto dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

} // namespace

std::string value_text(const Field& field, const Config& config) {
  // Slots are writable; a copy is what may be written to.
  Config copy = config;
  return std::visit(
      [](const auto* slot) { return one(*slot); }, field.slot(copy));
}

std::string expected_text(const Field& field) {
  Config any;
  return std::visit(Expected{field}, field.slot(any));
}

namespace {

std::string toml_of(
    const Config& config,
    const std::function<bool(const Field&)>& wanted) {
  std::string out;
  std::string section;
  for (const Field& field : fields()) {
    if (!wanted(field)) continue;
    const std::string key = field.key;
    const std::string its = section_of(key);
    if (its != section) out += cat("\n[", its, "]\n");
    section = its;
    const std::string name = its.empty() ? key : key.substr(its.size() + 1);
    out += cat(name, " = ", value_text(field, config), "\n");
  }
  return out;
}

} // namespace

std::string to_toml(const Config& config) {
  return toml_of(config, [](const Field&) { return true; });
}

std::string changed_toml(const Config& config) {
  const Config defaults;
  return toml_of(config, [&](const Field& field) {
    return value_text(field, config) != value_text(field, defaults);
  });
}

std::string key_text(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr) unknown_key(key, "");
  return cat(
      key,
      ": ",
      field->help,
      ".\n  takes    ",
      expected_text(*field),
      "\n  default  ",
      value_text(*field, {}),
      "\n");
}

std::string help_text() {
  std::size_t widest = 0;
  for (const Field& field : fields())
    widest = std::max(widest, std::string(field.key).size());
  constexpr std::size_t kWidth = 78;
  std::string out;
  std::string section;
  for (const Field& field : fields()) {
    const std::string key = field.key;
    if (section_of(key) != section) out += "\n";
    section = section_of(key);
    const std::string about =
        cat(field.help,
            field.choices.empty() ? "" : cat("; ", expected_text(field)),
            " [",
            value_text(field, {}),
            "]");
    std::string left = cat("  ", key, std::string(widest - key.size(), ' '));
    for (const std::string& line : wrap(about, kWidth - widest - 4)) {
      out += cat(left, "  ", line, "\n");
      left.assign(widest + 2, ' ');
    }
  }
  return out;
}

std::string reference_markdown() {
  std::string out = kPageHead;
  std::string section = "-";
  for (const Field& field : fields()) {
    const std::string its = section_of(field.key);
    if (its != section)
      out += cat(
          "\n## ",
          its.empty() ? "At the top" : cat("[", its, "]"),
          "\n\n| key | default | takes | what it is |\n|---|---|---|---|\n");
    section = its;
    out +=
        cat("| `",
            field.key,
            "` | `",
            value_text(field, {}),
            "` | ",
            expected_text(field),
            " | ",
            field.help,
            " |\n");
  }
  return out;
}

} // namespace temper::config
