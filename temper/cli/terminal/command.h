// A command: a line in the table of commands.cpp, a manual, and flags that
// CLI11 parses. One file per command; nobody includes this room.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "temper/base/error.h"
#include "temper/base/exit_codes.h"
#include "temper/cli/terminal/console.h"

namespace CLI {
class App;
} // namespace CLI

namespace temper::cli {

// Wrong flags or arguments: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Ctrl-C, noticed: exit code 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// How the program was called: the arguments as they came, and the flags that
// may stand before or behind any command's name.
struct Invocation {
  std::vector<std::string> arguments; // without the program's name
  bool verbose = false;
  bool quiet = false;
  bool mps_fallback = false;
};

// The long text of `temper help NAME`, beside the flags.
struct Manual {
  std::string description; // paragraphs, separated by an empty line
  std::vector<std::pair<std::string, std::string>> examples; // line, meaning
  std::vector<std::pair<int, std::string>> exit_codes;
};

class Command {
 public:
  virtual ~Command() = default;
  virtual Manual manual() const = 0;
  // Declares its flags; their values land in members.
  virtual void declare(CLI::App& app) = 0;
  virtual int run(const Invocation& invocation, Console& console) = 0;
};

struct CommandEntry {
  const char* name;
  const char* summary; // one line of `temper --help`
  std::unique_ptr<Command> (*make)();
};

// All commands, in the order of the help.
const std::vector<CommandEntry>& commands();

std::unique_ptr<Command> make_data();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_export();
std::unique_ptr<Command> make_help();
std::unique_ptr<Command> make_plan();
std::unique_ptr<Command> make_runs();
std::unique_ptr<Command> make_train();
std::unique_ptr<Command> make_model();

} // namespace temper::cli
