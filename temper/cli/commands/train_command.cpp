#include <CLI/CLI.hpp>

#include "temper/base/environment.h"
#include "temper/base/text.h"
#include "temper/cli/commands/supervise.h"
#include "temper/cli/commands/train_flags.h"
#include "temper/cli/commands/trainer_screen.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/terminal/interrupt.h"
#include "temper/cli/terminal/progress_line.h"
#include "temper/cli/terminal/start.h"
#include "temper/cli/terminal/version.h"
#include "temper/cli/view/runs_text.h"
#include "temper/cli/view/start_table.h"
#include "temper/config/load.h"
#include "temper/config/print.h"
#include "temper/machine/probe.h"
#include "temper/session/leave.h"
#include "temper/session/origin.h"
#include "temper/session/parent.h"
#include "temper/session/session.h"
#include "temper/session/start_from.h"
#include "temper/train/run/resume_rules.h"
#include "temper/train/run/run.h"

namespace temper::cli {
namespace {

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
        "--resume goes on from there to the same result, and takes --set for "
        "keys that do not alter it. A SIGUSR1 saves a checkpoint at once.\n\n"
        "--from RUN starts a new run from RUN's best weights, with its config "
        "and any changes: more epochs, another rate, other data. Schedules "
        "begin anew.\n\n"
        "A small parent process watches the one that trains. When that is "
        "killed, crashes or hangs, the parent says why and starts it again "
        "from its last checkpoint. --no-supervise or TEMPER_SUPERVISE=0 "
        "trains without it.",
        {{"temper train", "Fashion-MNIST with a small network"},
         {"temper train configs/cifar10-resnet18.toml", "a config of yours"},
         {"temper train --model net.pt2 --data folder:photos",
          "your own PyTorch model on your own images"},
         {"temper train --set optimizer.name=sgd --lr 0.1", "any key"},
         {"TEMPER_DEVICE=cpu temper train net.toml",
          "this device, whatever the config says"},
         {"temper train --device sim --set sim.memory=8GiB --dry-run",
          "would it fit there, and with how many samples at once"},
         {"temper train --resume latest", "go on with the last run"},
         {"temper train --from latest --epochs 5",
          "five more epochs, as a new run"}},
        {{0, "done"},
         {1, "failed"},
         {2, "wrong flags or config"},
         {75, "stopped with a checkpoint; --resume goes on"},
         {86, "hung or leaked with --no-supervise; --resume goes on"},
         {130,
          "interrupted at once: a second Ctrl-C, or before the first "
          "step"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("CONFIG", config_, "a TOML file")->type_name("FILE");
    flags_.declare(app);
    app.add_option("--resume", resume_, "go on with a run: its name, or latest")
        ->type_name("RUN");
    app.add_option(
           "--from",
           from_,
           "start a new run with a run's config and its best weights")
        ->type_name("RUN");
    app.add_flag(
        "--dry-run",
        dry_run_,
        "print what would be done: measures, trains nothing");
    app.add_flag(
        "--no-supervise",
        no_supervise_,
        "train in this process, and do not start again what dies");
  }

  int run(const Invocation& invocation, Console& console) override {
    if (TrainFlags::reads_once(config_)) go_on_alone(invocation);
    const config::Config config = read_config();
    if (!dry_run_) console.outlive_output();
    if (!resume_.empty())
      if (const std::string done = already_done(config); !done.empty()) {
        console.print(done);
        return kDone;
      }
    if (supervised())
      if (const auto code = run_as_parent(invocation, console)) return *code;
    need_libtorch(invocation, true);
    const auto machine = machine::probe(".");
    start(machine);
    return dry_run_ ? show_plan(config, machine, console)
                    : run_as_trainer(invocation, config, machine, console);
  }

 private:
  bool supervised() const {
    return !dry_run_ && !no_supervise_ &&
        session::wants_parent(current_environment());
  }

  // With a config that nobody else has read, and nobody can read again.
  void go_on_alone(const Invocation& invocation) {
    need_libtorch(invocation, true);
    if (supervised())
      log::warn(
          cat("[train] ",
              config_,
              " can be read only once: training without a supervisor."));
    no_supervise_ = true;
  }

  // The parent starts this command again and waits. No value when this process
  // has to train itself.
  std::optional<int> run_as_parent(
      const Invocation& invocation,
      Console& console) const {
    return run_supervised(
        invocation, console, resume_.empty() ? Changes{} : changes_);
  }

  int run_as_trainer(
      const Invocation& invocation,
      const config::Config& config,
      const machine::Machine& machine,
      Console& console) const {
    session::Session session;
    count_signals_in(session.signals());
    InterruptWatch interrupts;
    TrainerScreen screen(console, interrupts, session, resume_.empty());
    session::Request request;
    request.config = config;
    request.machine = machine;
    request.version = version_line();
    request.origin = session::origin_json(invocation.arguments);
    if (!resume_.empty()) {
      request.resume = journal::find_run(config.run.dir, resume_).path;
      request.changes = changes_;
    }
    request.observer = &screen;
    request.control.stop = [&] { return interrupts.noticed(); };
    request.control.save_now = [&] { return interrupts.take_wish(); };
    request.control.give_up = [] { session::leave_at_once(kStartAgain); };
    console.progress("opening the data ...");
    try {
      return run_or_say_why_not(session, request).exit_code;
    } catch (const Interrupted&) {
      if (resume_.empty()) throw;
      return kStopped; // its checkpoints are as they were
    }
  }

  static int show_plan(
      const config::Config& config,
      const machine::Machine& machine,
      Console& console) {
    InterruptWatch interrupts;
    interrupts.leave_at_once(kInterrupted, kNothingYet);
    MeasuringLine measuring(console);
    train::RunRequest request;
    request.config = config;
    request.machine = machine;
    request.version = version_line();
    request.observer = &measuring;
    const auto overview = train::plan_run(request);
    console.print(
        (console.verbose() ? config::to_toml(config)
                           : config::changed_toml(config)) +
        "\n" + start_table(overview, config, console.width(), false) + "\n" +
        plan::to_text(overview.settings, console.width()) + "\n" +
        memory::to_text(overview.forecast) +
        (overview.parameters.empty()
             ? ""
             : "\n" + train::to_text(overview.parameters, config)) +
        (overview.fit ? "\n" + train::to_text(*overview.fit) : ""));
    return kDone;
  }

  static session::Result run_or_say_why_not(
      session::Session& session,
      const session::Request& request) {
    try {
      return session.train(request);
    } catch (const train::RefusedChange& error) {
      throw UsageError(error.what(), error.hint());
    }
  }

  // A resumed run keeps its config, but for changes that leave it the same run.
  void check_resume() const {
    if (!from_.empty() && (!config_.empty() || !resume_.empty()))
      throw UsageError(
          "[train] --from starts a new run with a run's config: it takes "
          "neither a config nor --resume.",
          "Changes go with --epochs, --lr, --set and the like.");
    if (!resume_.empty() && (!config_.empty() || dry_run_))
      throw UsageError(
          "[train] --resume goes on with the run's own config: it takes "
          "neither a config nor --dry-run.",
          "Leave it out, or start a new run.");
  }

  // The message for a run that has nothing left to do, whatever is changed but
  // its length; empty: it has something to do.
  std::string already_done(const config::Config& config) const {
    const auto directory = journal::find_run(config.run.dir, resume_);
    const auto run = journal::summarise(directory);
    if (run.status != "done" && run.status != "stopped early") return "";
    for (const auto& change : changes_)
      if (change.key == "train.epochs" || change.key == "train.max_steps" ||
          change.key == "train.early_stop")
        return "";
    return done_text(run);
  }

  config::Config read_config() {
    try {
      const auto assignments = flags_.assignments();
      check_resume();
      for (const auto& each : assignments) // where it lies is not the run's
        if (each.key != "run.dir") changes_.push_back(each);
      if (from_.empty()) return TrainFlags::config_of(config_, assignments);
      return TrainFlags::checked(session::config_from(from_, assignments));
    } catch (const Error& error) {
      throw UsageError(error.what(), error.hint());
    }
  }

  std::string config_;
  TrainFlags flags_;
  std::vector<config::Assignment> changes_; // all that was given
  std::string resume_;
  std::string from_;
  bool dry_run_ = false;
  bool no_supervise_ = false;
};

} // namespace

std::unique_ptr<Command> make_train() {
  return std::make_unique<TrainCommand>();
}

} // namespace temper::cli
