#include "temper/cli/commands/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/cli/terminal/manual.h"
#include "temper/cli/terminal/version.h"
#include "temper/config/print.h"

namespace temper::cli {
namespace {

struct GlobalOptions {
  Invocation invocation;
  bool help = false;
  bool version = false;
};

void declare_global(CLI::App& app, GlobalOptions& options) {
  app.set_help_flag(); // ours prints the manual
  app.add_flag("-h,--help", options.help, "print help and stop");
  app.add_flag(
      "--version",
      options.version,
      "print the versions of temper, LibTorch and the compiler and stop");
  app.add_flag(
      "-v,--verbose",
      options.invocation.verbose,
      "say what temper sets on this machine and why");
  app.add_flag(
      "-q,--quiet", options.invocation.quiet, "print results and errors only");
  app.add_flag(
      "--mps-fallback",
      options.invocation.mps_fallback,
      "run operators that MPS lacks on the CPU "
      "(PYTORCH_ENABLE_MPS_FALLBACK, set before LibTorch is loaded)");
}

const CommandEntry* find_command(const std::string& name) {
  for (const auto& entry : commands())
    if (name == entry.name) return &entry;
  return nullptr;
}

// The way to what other programs have a command for; empty: not known.
std::string way_to(const std::string& name) {
  if (name == "eval" || name == "evaluate" || name == "test")
    return "A test set is scored at the end of a run: temper train --set "
           "data.test=SOURCE.";
  if (name == "predict" || name == "infer" || name == "generate")
    return "Export the model and use it from Python or C++: temper export "
           "latest --with-preprocessing --to net.pt2 (docs/use-a-model.md).";
  if (name == "resume")
    return "Go on with a run: temper train --resume latest.";
  return "";
}

[[noreturn]] void unknown_command(const std::string& name) {
  if (const std::string way = way_to(name); !way.empty())
    throw UsageError(cat("there is no command \"", name, "\"."), way);
  std::vector<std::string> names;
  for (const auto& entry : commands())
    names.emplace_back(entry.name);
  const auto meant = nearest(name, names);
  throw UsageError(
      cat("unknown command \"", name, "\"."),
      meant ? cat("Did you mean: temper ", *meant, "?")
            : cat("Commands: ", join(names, ", "), ". See temper --help."));
}

[[noreturn]] void unexpected_argument(
    const std::string& argument,
    const CLI::App& app,
    const std::string& command) {
  const std::string see = command.empty()
      ? "See temper --help."
      : cat("See temper help ", command, ".");
  if (argument.empty() || argument.front() != '-')
    throw UsageError(cat("unexpected argument \"", argument, "\"."), see);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames())
      names.push_back(cat("--", name));
  const auto meant = nearest(argument.substr(0, argument.find('=')), names);
  throw UsageError(
      cat("unknown flag ", argument, "."),
      meant ? cat("Did you mean ", *meant, "? ", see) : see);
}

// CLI11's words: "--device: 1 required D missing", "--device: ...".
std::string in_our_words(const CLI::ParseError& error) {
  const std::string words = error.what();
  const auto colon = words.find(": ");
  const bool about_a_flag = words.starts_with("-") && colon != words.npos;
  if (about_a_flag && contains(words, " required "))
    return contains(lower(words), "at most") // and more were given
        ? cat(words.substr(0, colon), " was given more than once.")
        : cat(words.substr(0, colon), " needs a value.");
  if (about_a_flag) return words.substr(colon + 2);
  return cat(words, ".");
}

// CLI11 reports by exception; the words become ours.
void parse(
    CLI::App& app,
    std::vector<std::string> arguments,
    const std::string& command) {
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw UsageError(
        in_our_words(error),
        command.empty() ? "See temper --help."
                        : cat("See temper help ", command, "."));
  }
  const auto rest = app.remaining();
  if (!rest.empty()) unexpected_argument(rest.front(), app, command);
}

} // namespace

std::string help_for(const std::string& name, int width) {
  GlobalOptions options;
  CLI::App global;
  declare_global(global, options);
  if (name.empty()) return overview(global, width);
  if (name == "config")
    return cat(
        "The keys of a config, their defaults in brackets:\n",
        config::help_text());
  const CommandEntry* entry = find_command(name);
  if (entry == nullptr) unknown_command(name);
  const auto command = entry->make();
  CLI::App own;
  own.set_help_flag();
  command->declare(own);
  return manual_text(*entry, command->manual(), own, global, width);
}

int run_program(const std::vector<std::string>& arguments, Console& console) {
  // The command is the first word that is not a flag. Global flags take no
  // value, so that this is safe, and may stand on either side of it.
  const auto word = std::find_if(
      arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument.empty() || argument.front() != '-';
      });
  const std::string name = word == arguments.end() ? "" : *word;
  const CommandEntry* entry = find_command(name);
  if (entry == nullptr && word != arguments.end()) unknown_command(name);

  std::vector<std::string> rest(arguments.begin(), word);
  if (word != arguments.end())
    rest.insert(rest.end(), word + 1, arguments.end());

  GlobalOptions options;
  options.invocation.arguments = arguments;
  CLI::App app;
  declare_global(app, options);
  const auto command = entry == nullptr ? nullptr : entry->make();
  if (command) command->declare(app);
  parse(app, rest, name);

  console.set_verbose(options.invocation.verbose);
  console.set_quiet(options.invocation.quiet);
  if (options.version) {
    console.print(version_text());
    return kDone;
  }
  if (options.help || !command) {
    console.print(help_for(name, console.width()));
    return options.help ? kDone : kUsage;
  }
  return command->run(options.invocation, console);
}

} // namespace temper::cli
