#include "temper/config/load.h"

#include <toml++/toml.h>

#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/config/values.h"

namespace temper::config {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20;

void set(
    Loaded& into,
    const std::string& key,
    const Given& given,
    const std::string& from) {
  const Field* field = find_field(key);
  if (field == nullptr) unknown_key(key, from);
  if (const auto problem = assign(*field, given, into.config))
    throw Error(
        cat("[config] ",
            key,
            " = ",
            given.written,
            " ",
            *problem,
            " (",
            from,
            ")."),
        cat(key, ": ", field->help, "."));
  into.origin[key] = from;
}

std::optional<Scalar> scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* yes = node.as_boolean()) return yes->get();
  return std::nullopt;
}

std::string written(const toml::node& node) {
  std::ostringstream out;
  if (const auto* array = node.as_array())
    out << *array;
  else if (const auto* table = node.as_table())
    out << toml::table(*table);
  else
    out << toml::node_view<const toml::node>(node);
  return out.str();
}

Given given(
    const toml::node& node,
    const std::string& key,
    const std::string& from) {
  Given taken;
  taken.written = written(node);
  const auto refuse = [&] {
    throw Error(
        cat("[config] ",
            key,
            " = ",
            taken.written,
            " is neither a text, a number, true or false, nor a list of them (",
            from,
            ")."));
  };
  if (const auto* array = node.as_array()) {
    taken.list = true;
    for (const toml::node& item : *array) {
      const auto value = scalar(item);
      if (!value) refuse();
      taken.items.push_back(*value);
    }
    return taken;
  }
  if (const auto* table = node.as_table()) {
    for (const auto& [name, item] : *table) {
      const auto value = scalar(item);
      if (!value) refuse();
      taken.names.emplace_back(std::string_view(name.str()));
      taken.items.push_back(*value);
    }
    return taken;
  }
  const auto value = scalar(node);
  if (!value) refuse();
  taken.items.push_back(*value);
  return taken;
}

bool takes_words(const Field& field) {
  Config any;
  return std::holds_alternative<Words*>(field.slot(any));
}

void walk(
    Loaded& into,
    const toml::table& table,
    const std::string& prefix,
    const std::string& called) {
  for (const auto& [name, node] : table) {
    const std::string key = cat(prefix, std::string_view(name.str()));
    const std::string from = cat(called, " line ", node.source().begin.line);
    const Field* field = find_field(key);
    const auto* inner = node.as_table();
    if (inner != nullptr && (field == nullptr || !takes_words(*field))) {
      if (field != nullptr)
        throw Error(
            cat("[config] ", key, " is a value, not a section (", from, ")."));
      walk(into, *inner, key + ".", called);
    } else {
      const Given value = given(node, key, from);
      set(into, key, value, from);
    }
  }
}

// On the command line quotes are the shell's: a text field takes what is
// there, quoted or not; any other field takes TOML.
Given given(const Assignment& assignment) {
  Given taken;
  taken.written = assignment.value;
  const Field* field = find_field(assignment.key);
  if (field == nullptr) unknown_key(assignment.key, assignment.from);
  Config any;
  const Slot slot = field->slot(any);
  const bool text = std::holds_alternative<std::string*>(slot);
  const bool texts = std::holds_alternative<std::vector<std::string>*>(slot) ||
      std::holds_alternative<Names*>(slot);
  const std::string value(trim(assignment.value));
  const bool quoted = value.size() > 1 && value.front() == '"';
  if ((!text || quoted) && !value.empty()) {
    try {
      const toml::table parsed = toml::parse(cat("value = ", value));
      if (parsed.size() == 1)
        return given(*parsed.get("value"), assignment.key, assignment.from);
    } catch (const toml::parse_error&) {
      // Not TOML: auto, 4GiB, or a mistake that the field will tell.
    }
  }
  taken.list = texts;
  if (takes_words(*field)) {
    for (const std::string& each : split(value, ',')) {
      if (trim(each).empty()) continue;
      const Assignment word = parse_assignment(each);
      taken.names.push_back(word.key);
      taken.items.emplace_back(std::string(trim(word.value)));
    }
  } else if (texts)
    for (const std::string& each : split(value, ','))
      taken.items.emplace_back(std::string(trim(each)));
  else
    taken.items.emplace_back(assignment.value);
  return taken;
}

void lay_over(Loaded& into, const std::vector<Assignment>& assignments) {
  for (const Assignment& each : assignments)
    set(into, each.key, given(each), each.from);
}

} // namespace

Assignment parse_assignment(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(
        cat("[config] --set ", text, " sets nothing: there is no = in it."),
        "Write --set train.batch=32.");
  return {
      std::string(trim(std::string_view(text).substr(0, equals))),
      text.substr(equals + 1)};
}

Loaded load_text(
    const std::string& toml,
    const std::string& called,
    const std::vector<Assignment>& assignments) {
  Loaded loaded;
  try {
    walk(loaded, toml::parse(toml, std::string_view(called)), "", called);
  } catch (const toml::parse_error& error) {
    throw Error(
        cat("[config] cannot read ",
            called,
            " line ",
            error.source().begin.line,
            ": ",
            error.description(),
            "."),
        "It must be TOML: key = value, below a [section].");
  }
  lay_over(loaded, assignments);
  return loaded;
}

Loaded load(
    const std::optional<std::filesystem::path>& file,
    const std::vector<Assignment>& assignments) {
  if (!file) return load_text("", "", assignments);
  const auto text = read_small_file(*file, kLongestFile);
  if (!text)
    throw Error(
        cat("[config] cannot read ",
            file->string(),
            ": there is no such file, or it is no config."),
        "configs/ has some to start from.");
  return load_text(*text, file->filename().string(), assignments);
}

} // namespace temper::config
