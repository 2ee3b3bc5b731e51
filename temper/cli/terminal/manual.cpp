#include "temper/cli/terminal/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "temper/base/text.h"

namespace temper::cli {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// "  left   right, wrapped\n           under itself"
std::string columns(const Rows& rows, int width) {
  std::size_t left = 0;
  for (const auto& row : rows)
    left = std::max(left, row.first.size());
  left = std::min<std::size_t>(left, 28) + 4;
  const std::size_t room =
      std::max<std::size_t>(30, static_cast<std::size_t>(width) - left);
  std::string text;
  for (const auto& [name, meaning] : rows) {
    std::string line = cat("  ", name);
    if (line.size() + 2 > left)
      line += cat("\n", std::string(left, ' '));
    else
      line.append(left - line.size(), ' ');
    text +=
        cat(line,
            join(wrap(meaning, room), cat("\n", std::string(left, ' '))),
            "\n");
  }
  return text;
}

// Without the name of a check that CLI11 adds: "N:NONNEGATIVE".
std::string type_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

Rows flag_rows(const CLI::App& app) {
  Rows rows;
  for (const CLI::Option* option : app.get_options()) {
    std::string name = option->get_positional() ? option->get_name(true)
                                                : option->get_name(false, true);
    std::replace(name.begin(), name.end(), ',', ' ');
    if (!option->get_type_name().empty() && !option->get_positional())
      name += cat(" ", type_of(*option));
    std::string meaning = option->get_description();
    if (!option->get_default_str().empty())
      meaning += cat(" (default: ", option->get_default_str(), ")");
    rows.emplace_back(name, meaning);
  }
  return rows;
}

std::string usage(const CommandEntry& entry, const CLI::App& app) {
  std::string line = cat("temper ", entry.name, " [flags]");
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      line += cat(" [", option->get_name(true), "]");
  return line;
}

} // namespace

std::string overview(const CLI::App& global_flags, int width) {
  Rows rows;
  for (const auto& entry : commands())
    rows.emplace_back(entry.name, entry.summary);
  return cat(
      "temper trains deep-learning models at full speed on the machine you "
      "have.\n\nUsage: temper [flags] COMMAND [flags]\n\nCommands:\n",
      columns(rows, width),
      "\nFlags:\n",
      columns(flag_rows(global_flags), width),
      "\ntemper help COMMAND prints the manual of a command.\n");
}

std::string manual_text(
    const CommandEntry& entry,
    const Manual& manual,
    const CLI::App& command_flags,
    const CLI::App& global_flags,
    int width) {
  std::string text =
      cat("temper ",
          entry.name,
          ": ",
          entry.summary,
          "\n\nUsage: ",
          usage(entry, command_flags),
          "\n\n");
  std::string paragraph;
  for (const auto& line : split(manual.description + "\n", '\n')) {
    if (!line.empty()) {
      paragraph += line + " ";
      continue;
    }
    if (paragraph.empty()) continue;
    text +=
        join(wrap(paragraph, static_cast<std::size_t>(width)), "\n") + "\n\n";
    paragraph.clear();
  }
  const Rows own = flag_rows(command_flags);
  if (!own.empty()) text += cat("Flags:\n", columns(own, width), "\n");
  text +=
      cat("Flags of every command:\n", columns(flag_rows(global_flags), width));
  if (!manual.examples.empty())
    text += cat("\nExamples:\n", columns(manual.examples, width));
  if (!manual.exit_codes.empty()) {
    Rows codes;
    for (const auto& [code, meaning] : manual.exit_codes)
      codes.emplace_back(cat(code), meaning);
    text += cat("\nExit codes:\n", columns(codes, width));
  }
  return text;
}

} // namespace temper::cli
