#include <CLI/CLI.hpp>
#include <ctime>
#include <nlohmann/json.hpp>

#include "temper/base/environment.h"
#include "temper/base/text.h"
#include "temper/cli/commands/train_flags.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/terminal/interrupt.h"
#include "temper/cli/terminal/progress_line.h"
#include "temper/cli/terminal/start.h"
#include "temper/cli/terminal/version.h"
#include "temper/data/fetch/locate.h"
#include "temper/data/tune/tuning_memory.h"
#include "temper/machine/probe.h"
#include "temper/plan/cache.h"
#include "temper/train/run/run.h"

namespace temper::cli {
namespace {

using Json = nlohmann::ordered_json;
using plan::RememberedPlan;
using Row = std::vector<std::string>;

std::string left_aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.at(0).size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += cat(row[i], std::string(widths[i] - row[i].size() + 2, ' '));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string date_text(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  char text[32];
  if (!::localtime_r(&time, &local) ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
    return "-";
  return text;
}

std::string step_of(const RememberedPlan& entry) {
  for (const auto& each : entry.plan.tried)
    if (each.verdict == plan::TrialVerdict::chosen && each.step_s)
      return cat(
          plan::step_text(*each.step_s),
          each.spread ? cat(" ", plan::spread_text(*each.spread)) : "");
  return "-";
}

Json json_of(const RememberedPlan& entry) {
  return {
      {"key", entry.key},
      {"model", entry.model},
      {"batch", entry.batch},
      {"input_shape", entry.input_shape},
      {"libtorch", entry.libtorch},
      {"saved_s", entry.saved_s},
      {"plan", Json::parse(plan::to_json(entry.plan))}};
}

class PlanCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Before a run, temper measures which device, memory layout, number of "
        "threads and precision are fastest for this model on this machine, "
        "and remembers the answer for the next run of the same kind.\n\n"
        "show lists what is remembered; with a KEY, one plan with its reasons "
        "and everything that was tried. clear forgets one, or all, with what "
        "loaders were tuned to: the next run measures again. measure does it "
        "on purpose, for a CONFIG and the flags of temper train, and trains "
        "nothing.\n\n"
        "What was measured while other programs used the processor is not "
        "remembered, unless --even-busy says so. plan.cache = \"off\" in a "
        "config neither reads nor writes plans; temper train --dry-run shows "
        "the plan of a run and writes nothing.",
        {{"temper plan show", "what is remembered"},
         {"temper plan show 3f2a", "one of them, with its reasons"},
         {"temper plan measure my.toml", "measure now, and remember it"},
         {"temper plan measure --model resnet18 --data cifar10",
          "the same without a config"},
         {"temper plan clear", "measure everything again"}},
        {{0, "done"}, {1, "no such plan"}, {2, "wrong flags or config"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "show, measure or clear");
    app.add_option(
        "KEY", key_, "the beginning of a plan's key; of measure a TOML file");
    app.add_flag("--json", json_, "print JSON");
    app.add_flag(
        "--even-busy",
        even_busy_,
        "of measure: remember it although other programs are busy");
    flags_.declare(app);
  }

  int run(const Invocation& invocation, Console& console) override {
    if (action_ == "measure") return measure(invocation, console);
    const auto folder = data::cache_directory(current_environment());
    const plan::PlanCache cache(folder.empty() ? folder : folder / "plans");
    if (action_ == "clear") return clear(cache, folder, console);
    if (action_ == "show")
      return key_.empty() ? list(cache, console) : show(cache, console);
    throw UsageError(
        cat("[plan] temper plan takes show, measure or clear, not ",
            action_,
            "."),
        "temper help plan explains it.");
  }

 private:
  [[noreturn]] void no_such_plan() const {
    throw Error(
        cat("[plan] no remembered plan has a key that begins with ", key_, "."),
        "temper plan show lists them.");
  }

  config::Config read_config() const {
    try {
      return TrainFlags::config_of(key_, flags_.assignments());
    } catch (const Error& error) {
      throw UsageError(error.what(), error.hint());
    }
  }

  // Measures as a run would, whatever is remembered and however short it is.
  int measure(const Invocation& invocation, Console& console) const {
    if (TrainFlags::reads_once(key_)) need_libtorch(invocation, true);
    train::RunRequest request;
    request.config = read_config();
    need_libtorch(invocation, true);
    request.machine = machine::probe(".");
    start(request.machine);
    request.version = version_line();
    request.measuring.on_purpose = true;
    request.measuring.even_busy = even_busy_;
    MeasuringLine measuring(console);
    request.observer = &measuring;
    InterruptWatch interrupts;
    interrupts.leave_at_once(kInterrupted, "interrupted; nothing is measured.");
    const plan::Plan plan = train::plan_run(request).settings;
    interrupts.over();
    console.print(
        json_ ? plan::to_json(plan)
              : plan::to_text(plan, console.width()) + outcome(plan, request));
    return kDone;
  }

  std::string outcome(const plan::Plan& plan, const train::RunRequest& request)
      const {
    if (plan.chosen() == nullptr)
      return "nothing was measured, and nothing is remembered\n";
    if (request.config.plan.cache != "on")
      return "not remembered: plan.cache is off\n";
    if (plan.load && plan.load->busy() && !even_busy_)
      return cat(
          "not remembered: ",
          machine::to_text(*plan.load),
          ". Measure again when they are done, or with --even-busy.\n");
    return "remembered for the next run\n";
  }

  // Loaders are tuned by measurement, too: with all plans goes that.
  int clear(
      const plan::PlanCache& cache,
      const std::filesystem::path& folder,
      Console& console) const {
    const int gone = cache.clear(key_);
    if (gone == 0 && !key_.empty()) no_such_plan();
    const bool loaders = key_.empty() && !folder.empty() &&
        data::forget_tunings(data::tuning_file(folder));
    console.print(
        json_ ? Json({{"cleared", gone}, {"loaders", loaders}}).dump() + "\n"
              : cat(plural(gone, "plan"),
                    loaders ? " and the loader's tuning" : "",
                    " forgotten\n"));
    return kDone;
  }

  int list(const plan::PlanCache& cache, Console& console) const {
    Json all = Json::array();
    std::vector<Row> rows{
        {"key",
         "model",
         "batch",
         "input",
         "LibTorch",
         "step",
         "setting",
         "measured"}};
    for (const RememberedPlan& entry : cache.list()) {
      all.push_back(json_of(entry));
      rows.push_back(
          {entry.key.substr(0, 8),
           entry.model,
           cat(entry.batch),
           entry.input_shape,
           entry.libtorch,
           step_of(entry),
           plan::to_text(entry.plan.setting()),
           date_text(entry.saved_s)});
    }
    if (json_)
      console.print(all.dump(1) + "\n");
    else if (rows.size() == 1)
      console.print("no plans are remembered\n");
    else
      console.print(left_aligned(rows));
    return kDone;
  }

  int show(const plan::PlanCache& cache, Console& console) const {
    Json all = Json::array();
    std::string out;
    for (const RememberedPlan& entry : cache.list()) {
      if (!entry.key.starts_with(key_)) continue;
      all.push_back(json_of(entry));
      out +=
          cat(out.empty() ? "" : "\n",
              entry.key,
              ": ",
              entry.model,
              ", batch ",
              entry.batch,
              ", input ",
              entry.input_shape,
              ", LibTorch ",
              entry.libtorch,
              "\n",
              plan::to_text(entry.plan, console.width()));
    }
    if (out.empty()) no_such_plan();
    console.print(json_ ? all.dump(1) + "\n" : out);
    return kDone;
  }

  std::string action_ = "show";
  std::string key_;
  bool json_ = false;
  bool even_busy_ = false;
  TrainFlags flags_;
};

} // namespace

std::unique_ptr<Command> make_plan() {
  return std::make_unique<PlanCommand>();
}

} // namespace temper::cli
