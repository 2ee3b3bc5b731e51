#include "temper/cli/view/runs_text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"
#include "temper/config/json_value.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/journal.h"
#include "temper/track/follow/delivery_state.h"
#include "temper/track/follow/translate.h"
#include "temper/track/mlflow/mlflow_lines.h"

namespace temper::cli {
namespace {

using journal::RunSummary;
using nlohmann::json;
using Row = std::vector<std::string>;
namespace fields = journal::fields;

constexpr std::size_t kSparkWidth = 40;

// Columns as wide as their widest cell; the first one to the left.
std::string right_aligned(const std::vector<Row>& rows) {
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
  if (contains(metric, "accuracy") || contains(metric, "top"))
    return percent_text(value, 2);
  return figure_text(value);
}

std::vector<std::string> metrics_in(const RunSummary& run) {
  std::vector<std::string> names;
  if (run.epoch_events.empty()) return names;
  for (const auto& [name, value] : run.epoch_events.back().fields)
    if (name.starts_with(fields::kTrainPrefix) ||
        name.starts_with(fields::kValPrefix))
      names.push_back(name);
  return names;
}

std::vector<double> values_of(const RunSummary& run, const std::string& name) {
  std::vector<double> values;
  for (const auto& event : run.epoch_events)
    values.push_back(event.number(name).value_or(std::nan("")));
  return values;
}

// The values as a line of at most that width; the first and the last value
// stay.
std::string course(const std::vector<double>& values) {
  if (values.size() <= kSparkWidth) return journal::sparkline(values);
  std::vector<double> fewer;
  for (std::size_t i = 0; i < kSparkWidth; ++i)
    fewer.push_back(values[i * (values.size() - 1) / (kSparkWidth - 1)]);
  return journal::sparkline(fewer);
}

// "update 150 of 1,565, loss 0.4321"
std::string place_text(const RunSummary& run) {
  return cat(
      "update ",
      count_text(run.updates),
      run.total_updates > 0 ? cat(" of ", count_text(run.total_updates)) : "",
      std::isnan(run.loss) ? "" : cat(", loss ", figure_text(run.loss)));
}

std::string best_text(const RunSummary& run) {
  if (run.status == "running") return place_text(run);
  return run.best_metric.empty()
      ? "-"
      : cat(run.best_metric, " ", value_text(run.best_metric, run.best));
}

// The lines about each place a run is delivered to, from what the followers
// remember.
std::string delivered_text(const RunSummary& run) {
  std::string out;
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::directory_iterator(run.directory.path, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("track-") || entry.path().extension() != ".json")
      continue;
    try {
      const auto state = track::read_follow_state(entry.path());
      if (!state) continue;
      const std::int64_t behind =
          track::lines_after(run.directory.journal(), state->offset);
      out +=
          cat("tracked  ",
              state->where,
              ": ",
              plural(state->points, "point"),
              behind > 0 ? cat(", ", plural(behind, "line"), " behind") : "",
              "\n");
    } catch (const Error& error) {
      out += cat("tracked  ", error.what(), "\n");
    }
  }
  return out;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += c;
  }
  return out + "\"";
}

std::string csv_line(const Row& cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells)
    quoted.push_back(csv_cell(cell));
  return join(quoted, ",") + "\n";
}

// Before the first step is reported there is none.
std::string speed_text(const RunSummary& run) {
  return run.samples_per_s > 0 ? decimals(run.samples_per_s, 0) : "-";
}

} // namespace

json runs_json(const RunSummary& run) {
  json metrics = json::object();
  for (const std::string& name : metrics_in(run)) {
    json values = json::array();
    for (const double value : values_of(run, name))
      values.push_back(std::isfinite(value) ? json(value) : json("NaN"));
    metrics[name] = values;
  }
  json config = json::object();
  for (const auto& [key, value] : run.config)
    config[key] = json::parse(config::json_of_toml(value));
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
      {"total_updates", run.total_updates},
      {"loss", std::isfinite(run.loss) ? json(run.loss) : json("NaN")},
      {"seconds", run.seconds},
      {"samples_per_s", run.samples_per_s},
      {"config", config},
      {"metrics", metrics}};
}

std::string list_text(const std::vector<RunSummary>& runs) {
  std::vector<Row> rows{
      {"run", "status", "best", "epochs", "time", "device", "samples/s"}};
  for (const RunSummary& run : runs)
    rows.push_back(
        {run.directory.name(),
         run.status,
         best_text(run),
         cat(run.epochs),
         seconds_text(run.seconds),
         run.device,
         speed_text(run)});
  return right_aligned(rows);
}

std::string done_text(const RunSummary& run) {
  return cat(
      run.directory.name(),
      " is already done: ",
      plural(run.epochs, "epoch"),
      ", ",
      plural(run.updates, "update"),
      run.best_metric.empty() ? "" : cat(", best ", best_text(run)),
      ".\n");
}

std::string show_text(const RunSummary& run) {
  std::string out =
      cat(run.directory.path.string(),
          "\n",
          run.status,
          run.status == "running" ? cat(", ", place_text(run)) : "",
          run.why.empty() ? "" : cat(": ", run.why),
          "; ",
          run.model.empty()
              ? ""
              : cat(run.model, " on ", run.data, ", ", run.device, ", "),
          run.status == "running" ? "" : plural(run.updates, "update"),
          run.status == "running" ? "for " : " in ",
          seconds_text(run.seconds),
          "\n",
          delivered_text(run),
          "\n");
  const auto names = metrics_in(run);
  if (names.empty()) return out + "no epoch has ended yet\n";
  Row head{"epoch"};
  head.insert(head.end(), names.begin(), names.end());
  std::vector<Row> rows{head};
  for (const auto& event : run.epoch_events) {
    Row row{cat(event.count(fields::kEpoch).value_or(0) + 1)};
    for (const std::string& name : names)
      row.push_back(
          value_text(name, event.number(name).value_or(std::nan(""))));
    rows.push_back(row);
  }
  out += right_aligned(rows) + "\n";
  std::size_t widest = 0;
  for (const std::string& name : names)
    widest = std::max(widest, name.size());
  for (const std::string& name : names)
    out +=
        cat(name,
            std::string(widest - name.size() + 2, ' '),
            course(values_of(run, name)),
            "\n");
  return out;
}

std::string compare_text(const std::vector<RunSummary>& runs) {
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
  const auto add = [&](const std::string& name, const auto& text_of) {
    Row row{name};
    for (const RunSummary& run : runs)
      row.push_back(text_of(run));
    rows.push_back(row);
  };
  for (const std::string& name : metrics)
    add(name, [&](const RunSummary& run) {
      const auto values = values_of(run, name);
      return value_text(name, values.empty() ? std::nan("") : values.back());
    });
  add("best", best_text);
  add("status", [](const RunSummary& run) { return run.status; });
  add("device", [](const RunSummary& run) { return run.device; });
  add("samples/s", speed_text);
  add("time", [](const RunSummary& run) { return seconds_text(run.seconds); });
  std::string out = right_aligned(rows);
  std::size_t widest = 0;
  for (const RunSummary& run : runs)
    widest = std::max(widest, run.directory.name().size());
  for (const std::string& name : metrics) {
    out += cat("\n", name, "\n");
    for (const RunSummary& run : runs) {
      const std::string its = run.directory.name();
      out +=
          cat("  ",
              its,
              std::string(widest - its.size() + 2, ' '),
              course(values_of(run, name)),
              "\n");
    }
  }
  return out;
}

std::string list_csv(const std::vector<RunSummary>& runs) {
  std::string out = csv_line(
      {"run",
       "status",
       "model",
       "data",
       "device",
       "best_metric",
       "best",
       "epochs",
       "updates",
       "seconds",
       "samples_per_s"});
  for (const RunSummary& run : runs)
    out += csv_line(
        {run.directory.name(),
         run.status,
         run.model,
         run.data,
         run.device,
         run.best_metric,
         track::python_number(run.best),
         cat(run.epochs),
         cat(run.updates),
         track::python_number(run.seconds),
         track::python_number(run.samples_per_s)});
  return out;
}

std::string points_csv(const journal::RunDirectory& run, bool head) {
  std::string out =
      head ? csv_line({"run", "metric", "step", "time_ms", "value"}) : "";
  track::Marks marks;
  journal::Follower follower(run.journal());
  for (;;) {
    const auto events = follower.read();
    if (events.empty()) return out;
    track::Delivery batch;
    for (const auto& event : events)
      track::translate(event, run, marks, batch);
    for (const track::Point& point : batch.points)
      out += csv_line(
          {run.name(),
           point.key,
           cat(point.step),
           cat(point.time_ms),
           track::python_number(point.value)});
  }
}

} // namespace temper::cli
