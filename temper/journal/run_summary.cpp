#include "temper/journal/run_summary.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_lock.h"

namespace temper::journal {
namespace {

void take_plan(RunSummary& summary, const std::string& text) {
  const auto plan = nlohmann::json::parse(text, nullptr, false);
  if (!plan.is_object()) return;
  const auto word = [&](const char* key) {
    const auto found = plan.find(key);
    return found != plan.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
  };
  summary.model = word("model");
  summary.data = word("source");
  summary.device = word("device");
  const auto per_epoch = plan.find("updates_per_epoch");
  const auto whole = [&](const char* key) {
    const auto found = summary.config.find(key);
    return found == summary.config.end() ? 0
                                         : parse_int(found->second).value_or(0);
  };
  if (per_epoch != plan.end() && per_epoch->is_number_integer())
    summary.total_updates =
        per_epoch->get<std::int64_t>() * whole("train.epochs");
  const std::int64_t most = whole("train.max_steps");
  if (most > 0 && (summary.total_updates == 0 || most < summary.total_updates))
    summary.total_updates = most;
}

void take_run(RunSummary& summary, const Event& event) {
  summary.began_s = event.time_s;
  summary.config = config_keys(event.text(fields::kConfig).value_or(""));
  take_plan(summary, event.json(fields::kPlan).value_or(""));
}

void take_files(RunSummary& summary) {
  const RunDirectory& from = summary.directory;
  summary.config = config_keys(read_small_file(from.config()).value_or(""));
  take_plan(summary, read_small_file(from.plan()).value_or(""));
}

// The sessions of a run that has not said how long it took.
struct Sessions {
  double before_s = 0;
  double begin_s = 0; // since 1970, as the next
  double last_s = 0;
  bool ended = false; // and said so

  void see(const Event& event) {
    if (event.kind == kinds::kResume) ended = false;
    if (event.kind == kinds::kEnd)
      ended = event.number(fields::kSeconds).has_value();
    if (event.kind == kinds::kRun || event.kind == kinds::kResume) {
      before_s += last_s - begin_s;
      begin_s = event.time_s;
    }
    last_s = std::max(begin_s, event.time_s);
  }
  double seconds() const {
    return before_s + last_s - begin_s;
  }
};

void take(RunSummary& summary, const Event& event) {
  if (event.kind == kinds::kRun) take_run(summary, event);
  if (event.kind == kinds::kResume) summary.status = "unfinished";
  if (event.kind == kinds::kStep) {
    summary.updates = event.count(fields::kStep).value_or(0);
    summary.loss = event.number(fields::kLoss).value_or(std::nan(""));
    if (summary.epochs == 0) // then the epochs' own
      summary.samples_per_s = event.number(fields::kSamplesPerS).value_or(0);
  }
  if (event.kind == kinds::kEpoch) {
    summary.updates = event.count(fields::kUpdate).value_or(0);
    summary.epochs = event.count(fields::kEpoch).value_or(0) + 1;
    summary.samples_per_s = event.number(fields::kSamplesPerS).value_or(0);
    summary.epoch_events.push_back(event);
  }
  if (event.kind == kinds::kEnd) {
    summary.status = event.text(fields::kStatus).value_or("");
    summary.why = event.text(fields::kWhy).value_or("");
    summary.best_metric = event.text(fields::kBestMetric).value_or("");
    summary.best = event.number(fields::kBest).value_or(std::nan(""));
    summary.seconds = event.number(fields::kSeconds).value_or(summary.seconds);
    summary.updates = event.count(fields::kUpdates).value_or(summary.updates);
  }
}

} // namespace

std::map<std::string, std::string> config_keys(const std::string& toml) {
  std::map<std::string, std::string> keys;
  std::string section;
  for (const std::string& line : split(toml, '\n')) {
    const auto equals = line.find(" = ");
    if (line.size() > 2 && line.front() == '[' && line.back() == ']')
      section = line.substr(1, line.size() - 2) + ".";
    else if (equals != std::string::npos)
      keys[section + line.substr(0, equals)] = line.substr(equals + 3);
  }
  return keys;
}

RunSummary summarise(const RunDirectory& directory) {
  RunSummary summary;
  summary.directory = directory;
  summary.status = "unfinished";
  summary.best = summary.loss = std::nan("");
  // Asked before the journal is read: one that ends meanwhile has an end then.
  const bool trained_now = is_trained_now(directory);
  Sessions sessions;
  Follower journal(directory.journal());
  for (auto events = journal.read(); !events.empty(); events = journal.read())
    for (const Event& event : events) {
      take(summary, event);
      sessions.see(event);
      if (!sessions.ended) summary.seconds = sessions.seconds();
    }
  summary.unreadable = journal.unreadable();
  if (summary.status == "unfinished" && trained_now) summary.status = "running";
  if (summary.model.empty()) take_files(summary);
  return summary;
}

std::string sparkline(const std::vector<double>& values) {
  static const char* const kHeights[] = {
      "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string out;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      out += "×";
      continue;
    }
    const double part = high > low ? (value - low) / (high - low) : 0.5;
    out += kHeights[static_cast<int>(std::lround(part * 7))];
  }
  return out;
}

} // namespace temper::journal
