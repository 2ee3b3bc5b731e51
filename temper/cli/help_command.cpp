#include <CLI/CLI.hpp>

#include "temper/cli/command.h"
#include "temper/cli/program.h"
#include "temper/config/print.h"

namespace temper::cli {
namespace {

class HelpCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Prints the manual of a command: what it does, its flags, examples "
        "and exit codes. Without a name, the list of commands. "
        "config lists the keys of a config.",
        {{"temper help doctor", "the manual of temper doctor"},
         {"temper help config", "every key of a config"},
         {"temper help config --markdown",
          "the same as docs/configuration.md"}},
        {{0, "printed"}, {2, "no such command"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("COMMAND", name_, "whose manual to print");
    app.add_flag("--markdown", markdown_, "config: as a page of Markdown");
  }

  int run(const Invocation&, Console& console) override {
    if (markdown_ && name_ != "config")
      throw UsageError(
          "[help] --markdown is for the keys of a config only.",
          "temper help config --markdown.");
    console.print(
        markdown_ ? config::reference_markdown()
                  : help_for(name_, console.width()));
    return kDone;
  }

 private:
  std::string name_;
  bool markdown_ = false;
};

} // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<HelpCommand>();
}

} // namespace temper::cli
