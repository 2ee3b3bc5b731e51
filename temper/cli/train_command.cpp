#include <CLI/CLI.hpp>

#include "temper/base/environment.h"
#include "temper/base/text.h"
#include "temper/cli/command.h"
#include "temper/cli/interrupt.h"
#include "temper/cli/progress_line.h"
#include "temper/cli/start.h"
#include "temper/cli/train_view.h"
#include "temper/cli/version.h"
#include "temper/config/load.h"
#include "temper/config/print.h"
#include "temper/machine/devices.h"
#include "temper/machine/probe.h"
#include "temper/train/run.h"

namespace temper::cli {
namespace {

// Flags that are short forms of keys.
struct ShortForm {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};
constexpr ShortForm kShortForms[] = {
    {"--model", "model.name", "M", "a model of the zoo, or a file: net.pt2"},
    {"--data", "data.source", "D", "what to train on: cifar10, folder:PATH"},
    {"--epochs", "train.epochs", "N", "passes over the data"},
    {"--batch", "train.batch", "N", "samples of one update"},
    {"--lr", "optimizer.lr", "X", "learning rate"},
    {"--device", "device", "D", "auto, cpu, gpu, mps, cuda, cuda:N"},
};

class TrainCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Trains a model and writes a run directory with the resolved config, "
        "a journal of everything that happened and checkpoints.\n\n"
        "A config is a TOML file; flags and --set go over it. Without any, a "
        "small network learns Fashion-MNIST. temper help config lists every "
        "key.\n\n"
        "Ctrl-C ends a run after the step under way, with a checkpoint; "
        "--resume goes on from there to the same result.",
        {{"temper train", "Fashion-MNIST with a small network"},
         {"temper train configs/cifar10-resnet18.toml", "a config of yours"},
         {"temper train --model net.pt2 --data folder:photos",
          "your own PyTorch model on your own images"},
         {"temper train --set optimizer.name=sgd --lr 0.1", "any key"},
         {"TEMPER_DEVICE=cpu temper train net.toml",
          "this device, whatever the config says"},
         {"temper train --resume latest", "go on with the last run"}},
        {{0, "done"},
         {1, "failed"},
         {2, "wrong flags or config"},
         {75, "stopped with a checkpoint; --resume goes on"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("CONFIG", config_, "a TOML file")->type_name("FILE");
    for (const ShortForm& form : kShortForms)
      app.add_option_function<std::string>(
             form.flag,
             [this, form](const std::string& value) {
               assignments_.push_back({form.key, value, form.flag});
             },
             form.help)
          ->type_name(form.type);
    app.add_option("--set", set_, "any key of the config")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("--resume", resume_, "go on with a run: its name, or latest")
        ->type_name("RUN");
    app.add_flag(
        "--dry-run", dry_run_, "print what would be done, and do nothing");
  }

  int run(const Invocation& invocation, Console& console) override {
    const config::Config config = read_config();
    const auto machine = machine::probe(".");
    start(invocation, machine, false);
    train::RunRequest request;
    request.config = config;
    request.machine = machine;
    request.version = version_line();
    if (!resume_.empty())
      request.resume = journal::find_run(config.run.dir, resume_).path;
    TrainView view(console);
    request.planning = [&](const std::string& what) { console.progress(what); };
    if (dry_run_) {
      const auto plan = train::plan_run(request);
      console.print(
          config::to_toml(config) + "\n" + plan_text(plan, config) + "\n" +
          plan::to_text(plan.settings, console.width()) +
          (plan.parameters.empty()
               ? ""
               : "\n" + train::to_text(plan.parameters, config)));
      return kDone;
    }
    const InterruptWatch interrupts;
    request.stop = [&] { return interrupts.noticed(); };
    request.planned = [&](const auto& plan, const auto& own) {
      view.start(plan, own);
    };
    request.watcher.event = [&](const journal::Event& event) {
      view.see(event);
    };
    request.watcher.glimpse = [&](const train::Glimpse& glimpse) {
      view.see(glimpse);
    };
    ProgressLine line(console);
    request.preparing = [&](const std::string& what, auto done, auto total) {
      interrupts.check();
      line.show(
          what,
          static_cast<std::uint64_t>(done),
          static_cast<std::uint64_t>(total),
          false);
    };
    console.progress("opening the data ...");
    const auto result = train::run(request);
    view.finish(result);
    return result.outcome.ending == train::Ending::kStopped ? kStopped : kDone;
  }

 private:
  // A resumed run keeps its config; what would be ignored is refused.
  void check_resume(const std::vector<config::Assignment>& given) const {
    if (resume_.empty()) return;
    for (const auto& each : given)
      if (each.key != "run.dir")
        throw UsageError(
            cat("[train] --resume goes on with the run's own config, and ",
                each.key,
                " was given too."),
            "Leave it out, or start a new run from the old one's "
            "config.toml.");
    if (!config_.empty() || dry_run_)
      throw UsageError(
          "[train] --resume goes on with the run's own config: it takes "
          "neither a config nor --dry-run.",
          "Leave it out, or start a new run.");
  }

  config::Config read_config() const {
    try {
      auto assignments = assignments_;
      for (const std::string& each : set_)
        assignments.push_back(config::parse_assignment(each));
      check_resume(assignments);
      // Over file and flags: whoever sets it wants it for every run.
      if (const auto device = variable(current_environment(), "TEMPER_DEVICE"))
        if (!device->empty()) {
          if (const auto unknown = machine::unknown_device(*device))
            throw Error(
                cat(unknown->what(), " TEMPER_DEVICE says so."),
                unknown->hint());
          assignments.push_back({"device", *device, "TEMPER_DEVICE"});
        }
      return config::load(
                 config_.empty()
                     ? std::nullopt
                     : std::optional<std::filesystem::path>(config_),
                 assignments)
          .config;
    } catch (const Error& error) {
      throw UsageError(error.what(), error.hint());
    }
  }

  std::string config_;
  std::vector<config::Assignment> assignments_; // of the short forms
  std::vector<std::string> set_;
  std::string resume_;
  bool dry_run_ = false;
};

} // namespace

std::unique_ptr<Command> make_train() {
  return std::make_unique<TrainCommand>();
}

} // namespace temper::cli
