#include "temper/base/environment.h"

#include <unistd.h>

#include <string_view>

extern char** environ;

namespace temper {

Environment current_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::optional<std::string> variable(
    const Environment& environment,
    const std::string& name) {
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  return found->second;
}

std::string variable_text(
    const Environment& environment,
    const std::string& name) {
  return variable(environment, name).value_or("");
}

} // namespace temper
