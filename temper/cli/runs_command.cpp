#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "temper/base/text.h"
#include "temper/cli/command.h"
#include "temper/journal/run_summary.h"

namespace temper::cli {
namespace {

using journal::RunSummary;
using nlohmann::json;
using Row = std::vector<std::string>;

// Columns as wide as their widest cell; the first one to the left.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += i == 0 ? cat(row[i], gap) : cat("  ", gap, row[i]);
    }
    out += line + "\n";
  }
  return out;
}

std::string value_text(const std::string& metric, double value) {
  if (std::isnan(value)) return "-";
  if (contains(metric, "accuracy") || contains(metric, "top"))
    return cat(decimals(value * 100, 2), " %");
  return decimals(value, 4);
}

std::vector<std::string> metrics_in(const RunSummary& run) {
  std::vector<std::string> names;
  if (run.epoch_events.empty()) return names;
  for (const auto& [name, value] : run.epoch_events.back().fields)
    if (starts_with(name, "train_") || starts_with(name, "val_"))
      names.push_back(name);
  return names;
}

std::vector<double> values_of(const RunSummary& run, const std::string& name) {
  std::vector<double> values;
  for (const auto& event : run.epoch_events)
    values.push_back(event.number(name).value_or(std::nan("")));
  return values;
}

json json_of(const RunSummary& run) {
  json metrics = json::object();
  for (const std::string& name : metrics_in(run)) {
    json values = json::array();
    for (const double value : values_of(run, name))
      values.push_back(std::isfinite(value) ? json(value) : json("NaN"));
    metrics[name] = values;
  }
  return {
      {"run", run.directory.name()},
      {"status", run.status},
      {"model", run.model},
      {"data", run.data},
      {"device", run.device},
      {"best_metric", run.best_metric},
      {"best", std::isfinite(run.best) ? json(run.best) : json("NaN")},
      {"epochs", run.epochs},
      {"updates", run.updates},
      {"seconds", run.seconds},
      {"samples_per_s", run.samples_per_s},
      {"config", run.config},
      {"metrics", metrics}};
}

class RunsCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Reads the journals of runs; nothing is changed, and a run under way "
        "may be looked at.\n\n"
        "list shows them all, show one of them epoch by epoch, compare the "
        "config keys and results in which two or more differ. A run is named "
        "by its directory, its name, the beginning or end of it, or latest.",
        {{"temper runs list", "what there is"},
         {"temper runs show latest", "the last one"},
         {"temper runs compare 1f3c 77aa", "two, side by side"}},
        {{0, "done"}, {1, "no such run"}, {2, "wrong flags"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "list, show or compare");
    app.add_option("RUN", runs_, "which");
    app.add_option("--dir", directory_, "where the runs are")
        ->type_name("DIR")
        ->default_str("runs");
    app.add_flag("--json", json_, "print JSON");
  }

  int run(const Invocation&, Console& console) override {
    if (action_ == "list" && runs_.empty()) return list(console);
    if (action_ == "show" && runs_.size() == 1) return show(console);
    if (action_ == "compare" && runs_.size() > 1) return compare(console);
    throw UsageError(
        "[runs] temper runs takes list, show RUN or compare RUN RUN.",
        "temper help runs explains it.");
  }

 private:
  std::vector<RunSummary> chosen() const {
    std::vector<RunSummary> summaries;
    for (const std::string& name : runs_)
      summaries.push_back(
          journal::summarise(journal::find_run(directory_, name)));
    return summaries;
  }

  int list(Console& console) const {
    std::vector<Row> rows{
        {"run", "status", "best", "epochs", "time", "device", "samples/s"}};
    json all = json::array();
    for (const auto& directory : journal::list_runs(directory_)) {
      const RunSummary run = journal::summarise(directory);
      all.push_back(json_of(run));
      rows.push_back(
          {run.directory.name(),
           run.status,
           run.best_metric.empty() ? "-"
                                   : cat(run.best_metric,
                                         " ",
                                         value_text(run.best_metric, run.best)),
           cat(run.epochs),
           seconds_text(run.seconds),
           run.device,
           decimals(run.samples_per_s, 0)});
    }
    if (json_)
      console.print(all.dump(1) + "\n");
    else if (rows.size() == 1)
      console.print(cat("there are no runs in ", directory_, "\n"));
    else
      console.print(table(rows));
    return kDone;
  }

  int show(Console& console) const {
    const RunSummary run = chosen().at(0);
    if (json_) {
      console.print(json_of(run).dump(1) + "\n");
      return kDone;
    }
    std::string out =
        cat(run.directory.path.string(),
            "\n",
            run.status,
            run.why.empty() ? "" : cat(": ", run.why),
            "; ",
            run.model,
            " on ",
            run.data,
            ", ",
            run.device,
            ", ",
            count_text(run.updates),
            " updates in ",
            seconds_text(run.seconds),
            "\n\n");
    const auto names = metrics_in(run);
    Row head{"epoch"};
    head.insert(head.end(), names.begin(), names.end());
    std::vector<Row> rows{head};
    for (const auto& event : run.epoch_events) {
      Row row{cat(event.count("epoch").value_or(0) + 1)};
      for (const std::string& name : names)
        row.push_back(
            value_text(name, event.number(name).value_or(std::nan(""))));
      rows.push_back(row);
    }
    out += table(rows) + "\n";
    std::size_t widest = 0;
    for (const std::string& name : names)
      widest = std::max(widest, name.size());
    for (const std::string& name : names)
      out +=
          cat(name,
              std::string(widest - name.size() + 2, ' '),
              journal::sparkline(values_of(run, name)),
              "\n");
    console.print(out);
    return kDone;
  }

  int compare(Console& console) const {
    const auto runs = chosen();
    if (json_) {
      json all = json::array();
      for (const RunSummary& run : runs)
        all.push_back(json_of(run));
      console.print(all.dump(1) + "\n");
      return kDone;
    }
    Row head{""};
    for (const RunSummary& run : runs)
      head.push_back(run.directory.name());
    std::vector<Row> rows{head};
    std::set<std::string> keys;
    std::set<std::string> metrics;
    for (const RunSummary& run : runs) {
      for (const auto& [key, value] : run.config)
        keys.insert(key);
      for (const std::string& name : metrics_in(run))
        metrics.insert(name);
    }
    for (const std::string& key : keys) {
      Row row{key};
      for (const RunSummary& run : runs) {
        const auto found = run.config.find(key);
        row.push_back(found == run.config.end() ? "-" : found->second);
      }
      if (std::set<std::string>(row.begin() + 1, row.end()).size() > 1)
        rows.push_back(row);
    }
    for (const std::string& name : metrics) {
      Row row{name};
      for (const RunSummary& run : runs) {
        const auto values = values_of(run, name);
        row.push_back(
            value_text(name, values.empty() ? std::nan("") : values.back()));
      }
      rows.push_back(row);
    }
    Row times{"time"};
    for (const RunSummary& run : runs)
      times.push_back(seconds_text(run.seconds));
    rows.push_back(times);
    console.print(table(rows));
    return kDone;
  }

  std::string action_ = "list";
  std::vector<std::string> runs_;
  std::string directory_ = "runs";
  bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_runs() {
  return std::make_unique<RunsCommand>();
}

} // namespace temper::cli
