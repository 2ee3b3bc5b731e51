#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/cli/commands/runs_gc.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/view/runs_text.h"
#include "temper/config/load.h"
#include "temper/session/tracked_run.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;
using journal::RunSummary;
using nlohmann::json;

bool is_csv(const std::string& to) {
  return lower(fs::path(to).extension().string()) == ".csv";
}

class RunsCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Reads the journals of runs; a run under way may be looked at.\n\n"
        "list shows them all, show one of them epoch by epoch, compare the "
        "config keys and results in which two or more differ. A run is named "
        "by its directory, its name, the beginning or end of it, or latest.\n\n"
        "export delivers runs to MLflow, TensorBoard or a CSV file: what was "
        "delivered there before is not delivered again, so that it also brings "
        "what a server missed while it was down. Without --to, it goes where "
        "the run's own config says.\n\n"
        "gc shows what can go: runs that failed or were killed before their "
        "first checkpoint, and all checkpoints of finished runs but the best "
        "and the last. With --yes it goes.",
        {{"temper runs list", "what there is"},
         {"temper runs show latest", "the last one"},
         {"temper runs compare 1f3c 77aa", "two, side by side"},
         {"temper runs export latest --to http://mlflow:5000",
          "to a tracking server"},
         {"temper runs export latest --to tensorboard:logs",
          "as TensorBoard's files"},
         {"temper runs export latest --to run.csv", "every point as a table"},
         {"temper runs gc --keep 5 --yes", "make room"}},
        {{0, "done"},
         {1, "no such run, or not delivered"},
         {2, "wrong flags"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "list, show, compare, export or gc");
    app.add_option("RUN", runs_, "which");
    app.add_option("--dir", directory_, "where the runs are")
        ->type_name("DIR")
        ->default_str("runs");
    app.add_option("--to", to_, "export: an address of MLflow's, or FILE.csv")
        ->type_name("URI");
    app.add_option("--experiment", experiment_, "export: of MLflow")
        ->type_name("NAME");
    app.add_option("--keep", keep_, "gc: leave the youngest runs alone")
        ->type_name("N")
        ->default_str("3")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--yes", yes_, "gc: remove it");
    app.add_flag("--json", json_, "print JSON");
    app.add_flag("--csv", csv_, "list: print CSV");
  }

  int run(const Invocation&, Console& console) override {
    if (action_ == "list" && runs_.empty()) return list(console);
    if (action_ == "show" && runs_.size() == 1) return show(console);
    if (action_ == "compare" && runs_.size() > 1) return compare(console);
    if (action_ == "export" && !runs_.empty()) return export_runs(console);
    if (action_ == "gc" && runs_.empty()) return collect(console);
    throw UsageError(
        "[runs] temper runs takes list, show RUN, compare RUN RUN, export RUN "
        "--to URI or gc.",
        "temper help runs explains it.");
  }

 private:
  std::vector<journal::RunDirectory> directories() const {
    std::vector<journal::RunDirectory> found;
    for (const std::string& name : runs_)
      found.push_back(journal::find_run(directory_, name));
    return found;
  }
  std::vector<RunSummary> chosen() const {
    std::vector<RunSummary> summaries;
    for (const auto& directory : directories())
      summaries.push_back(read(directory));
    return summaries;
  }
  static RunSummary read(const journal::RunDirectory& directory) {
    RunSummary run = journal::summarise(directory);
    if (!fs::exists(directory.journal()))
      log::warn(
          cat(run.directory.name(),
              " has lost its journal: what it did is not known, but temper "
              "train --resume goes on from its checkpoint."));
    if (run.unreadable > 0)
      log::warn(
          cat("the journal of ",
              run.directory.name(),
              " is damaged: ",
              plural(run.unreadable, "line"),
              " of it cannot be read and ",
              run.unreadable == 1 ? "is" : "are",
              " left out."));
    return run;
  }
  static std::string all_json(const std::vector<RunSummary>& runs) {
    json all = json::array();
    for (const RunSummary& run : runs)
      all.push_back(runs_json(run));
    return all.dump(1) + "\n";
  }

  int list(Console& console) const {
    std::vector<RunSummary> runs;
    for (const auto& directory : journal::list_runs(directory_))
      runs.push_back(read(directory));
    if (json_)
      console.print(all_json(runs));
    else if (csv_)
      console.print(list_csv(runs));
    else if (runs.empty())
      console.print(cat("there are no runs in ", directory_, "\n"));
    else
      console.print(list_text(runs));
    return kDone;
  }

  int show(Console& console) const {
    const RunSummary run = chosen().at(0);
    console.print(json_ ? runs_json(run).dump(1) + "\n" : show_text(run));
    return kDone;
  }

  int compare(Console& console) const {
    const auto runs = chosen();
    console.print(json_ ? all_json(runs) : compare_text(runs));
    return kDone;
  }

  int export_runs(Console& console) const {
    if (is_csv(to_)) {
      std::string text;
      for (const auto& run : directories())
        text += points_csv(run, text.empty());
      write_file_atomically(to_, text);
      console.print(cat(to_, ": every point of ", plural_runs(), "\n"));
      return kDone;
    }
    for (const auto& run : directories()) {
      session::leave_trace(run);
      deliver(run, console);
    }
    return kDone;
  }

  std::string plural_runs() const {
    return plural(static_cast<std::int64_t>(runs_.size()), "run");
  }

  void deliver(const journal::RunDirectory& run, Console& console) const {
    auto options =
        session::track_options(config::load(run.config(), {}).config);
    if (!experiment_.empty()) options.experiment = experiment_;
    std::vector<track::Target> targets;
    if (to_.empty())
      targets = track::targets_of(options, run.path);
    else
      targets.push_back(track::parse_target(to_));
    if (targets.empty())
      throw UsageError(
          cat("[runs] ", run.name(), " is tracked nowhere."),
          "Say where with --to.");
    for (track::Target target : targets) {
      // A folder given by hand is one for many runs.
      if (!to_.empty() && target.kind == track::Target::Kind::tensorboard)
        target = track::parse_target(
            cat("tensorboard:", (target.path / run.name()).string()));
      console.progress(cat("delivering ", run.name(), " to ", target.shown));
      const auto delivered = track::deliver_run(
          run.path, target, options, session::status_without_end(run));
      console.print(cat(
          run.name(),
          " -> ",
          target.shown,
          ": ",
          plural(delivered.points, "point"),
          delivered.points_before > 0 ? cat(", ",
                                            count_text(delivered.points_before),
                                            " were there already")
                                      : "",
          "\n"));
    }
  }

  int collect(Console& console) const {
    const auto waste = find_removable(directory_, keep_);
    std::uint64_t bytes = 0;
    std::string out;
    for (const Removable& each : waste) {
      bytes += each.bytes;
      out +=
          cat(each.path.string(),
              "  ",
              bytes_text(each.bytes),
              "  ",
              each.why,
              "\n");
    }
    if (waste.empty()) {
      console.print("there is nothing to remove\n");
      return kDone;
    }
    if (yes_) remove_found(waste);
    console.print(
        cat(out,
            bytes_text(bytes),
            yes_ ? " removed\n" : " can go: say --yes to remove it\n"));
    return kDone;
  }

  std::string action_ = "list";
  std::vector<std::string> runs_;
  std::string directory_ = "runs";
  std::string to_;
  std::string experiment_;
  int keep_ = 3;
  bool yes_ = false;
  bool json_ = false;
  bool csv_ = false;
};

} // namespace

std::unique_ptr<Command> make_runs() {
  return std::make_unique<RunsCommand>();
}

} // namespace temper::cli
