#include <CLI/CLI.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/cli/commands/program.h"
#include "temper/cli/terminal/command.h"
#include "temper/config/print.h"

namespace temper::cli {
namespace {

class HelpCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Prints the manual of a command: what it does, its flags, examples "
        "and exit codes. Without a name, the list of commands. "
        "config lists the keys of a config, and explains one of them.",
        {{"temper help doctor", "the manual of temper doctor"},
         {"temper help config", "every key of a config"},
         {"temper help config data.augment", "one key: what it takes"},
         {"temper help config --markdown",
          "the same as docs/configuration.md"}},
        {{0, "printed"}, {2, "no such command"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("COMMAND", name_, "whose manual to print");
    app.add_option("KEY", key_, "config: the key to explain");
    app.add_flag("--markdown", markdown_, "config: as a page of Markdown");
  }

  int run(const Invocation&, Console& console) override {
    if (markdown_ && name_ != "config")
      throw UsageError(
          "[help] --markdown is for the keys of a config only.",
          "temper help config --markdown.");
    if (!key_.empty() && name_ != "config")
      throw UsageError(
          cat("[help] unexpected argument \"", key_, "\"."),
          "See temper help help.");
    if (!key_.empty()) {
      console.print(explained());
      return kDone;
    }
    console.print(
        markdown_ ? config::reference_markdown()
                  : help_for(name_, console.width()));
    return kDone;
  }

 private:
  std::string explained() const {
    try {
      return config::key_text(key_);
    } catch (const Error& error) {
      throw UsageError(error.what(), error.hint());
    }
  }

  std::string name_;
  std::string key_;
  bool markdown_ = false;
};

} // namespace

std::unique_ptr<Command> make_help() {
  return std::make_unique<HelpCommand>();
}

} // namespace temper::cli
