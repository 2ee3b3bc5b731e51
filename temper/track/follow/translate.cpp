#include "temper/track/follow/translate.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/checkpoint_name.h"
#include "temper/base/cut_text.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using journal::Event;
using nlohmann::json;
namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace statuses = journal::statuses;

constexpr std::size_t kLongestKey = 250;
constexpr const char* kSystem = "system/"; // MLflow's own name for them

std::int64_t ms(double seconds) {
  return std::llround(seconds * 1000);
}

// No metric has a # in its name.
std::string mark_of(const Marks& marks, const std::string& key) {
  return marks.rollbacks == 0
      ? key
      : cat(key, "#", marks.rollbacks, ":", marks.rolled_to);
}

// Over all rollbacks; -1: it was never delivered.
std::int64_t highest(
    const std::map<std::string, std::int64_t>& high,
    const std::string& key) {
  std::int64_t most = -1;
  for (auto at = high.lower_bound(key); at != high.end(); ++at) {
    if (!at->first.starts_with(key)) break;
    if (at->first.size() == key.size() || at->first[key.size()] == '#')
      most = std::max(most, at->second);
  }
  return most;
}

// True if this point was not delivered before; records it.
bool is_new(Marks& marks, const std::string& key, std::int64_t step) {
  const std::string mark = mark_of(marks, key);
  const auto done = marks.skip.find(mark);
  if (done != marks.skip.end() && step <= done->second) return false;
  const auto [high, first] = marks.high.try_emplace(mark, step);
  if (!first) high->second = std::max(high->second, step);
  return true;
}

void add_point(
    Delivery& batch,
    Marks& marks,
    const std::string& key,
    double value,
    std::int64_t step,
    const Event& event) {
  if (is_new(marks, key, step))
    batch.points.push_back({key, value, step, ms(event.time_s)});
}

void add_step(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t step = event.count(fields::kStep).value_or(0);
  for (const auto& [name, value] : event.fields) {
    if (name == fields::kStep || name == fields::kEpoch) continue;
    if (const auto number = event.number(name))
      add_point(batch, marks, clean_key(name), *number, step, event);
  }
}

void add_epoch(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t step = event.count(fields::kUpdate).value_or(0);
  for (const auto& [name, value] : event.fields) {
    if (!name.starts_with(fields::kTrainPrefix) &&
        !name.starts_with(fields::kValPrefix))
      continue;
    if (const auto number = event.number(name))
      add_point(batch, marks, clean_key(name), *number, step, event);
  }
  const auto also = [&](const char* key, std::optional<double> number) {
    if (number) add_point(batch, marks, key, *number, step, event);
  };
  also("epoch_seconds", event.number(fields::kSeconds));
  also("epoch_samples_per_s", event.number(fields::kSamplesPerS));
  // People count them from 1.
  if (const auto epoch = event.number(fields::kEpoch))
    also("epoch", *epoch + 1);
}

void add_test(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t step = event.count(fields::kUpdate).value_or(0);
  for (const auto& [name, value] : event.fields)
    if (const auto number = event.number(name);
        number && name.starts_with(fields::kTestPrefix))
      add_point(batch, marks, clean_key(name), *number, step, event);
}

// MLflow counts them 0, 1, 2, ...; the time tells which are new.
void add_system(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t time_ms = ms(event.time_s);
  if (time_ms <= marks.system_ms) return;
  for (const auto& [name, value] : event.fields)
    if (const auto number = event.number(name))
      batch.points.push_back(
          {clean_key(cat(kSystem, name)), *number, marks.system_step, time_ms});
  marks.system_ms = time_ms;
  ++marks.system_step;
}

void add_incident(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t time_ms = ms(event.time_s);
  if (time_ms <= marks.note_ms) return;
  marks.note_ms = time_ms;
  ++marks.incidents;
  const std::int64_t update = event.count(fields::kUpdate).value_or(0);
  const std::string text =
      cat("update ",
          update,
          ", ",
          event.text(fields::kWhat).value_or(event.kind),
          ": ",
          event.text(fields::kWhy).value_or(""));
  batch.notes.push_back({"incidents", text, update, time_ms});
  batch.tags.push_back({"temper.incidents", cat(marks.incidents)});
  batch.tags.push_back({"temper.last_incident", shortened(text, kLongestTag)});
}

void add_checkpoint(
    const Event& event,
    const journal::RunDirectory& directory,
    Delivery& batch) {
  const std::int64_t update = event.count(fields::kUpdate).value_or(0);
  const std::string name = checkpoint_name(update);
  batch.weights.push_back(
      {directory.checkpoints() / name, update, ms(event.time_s)});
  batch.tags.push_back({"temper.checkpoint", name});
  if (event.flag(fields::kBest).value_or(false))
    batch.tags.push_back({"temper.best_checkpoint", name});
}

void add_gradients(const Event& event, Marks& marks, Delivery& batch) {
  const std::int64_t step = event.count(fields::kUpdate).value_or(0);
  if (!is_new(marks, "(gradients)", step)) return; // no metric is called so
  const json all = json::parse(
      event.json(fields::kHistograms).value_or("{}"), nullptr, false);
  if (!all.is_object()) return;
  for (const auto& [name, spread] : all.items()) {
    Histogram made;
    made.key = cat("gradients/", name);
    made.step = step;
    made.time_ms = ms(event.time_s);
    try {
      made.buckets = equal_buckets(
          spread.at("low"),
          spread.at("high"),
          spread.at("counts").get<std::vector<std::int64_t>>());
    } catch (const json::exception&) { // another version's
      continue;
    }
    batch.histograms.push_back(std::move(made));
  }
}

// A file of the run, or a folder of them.
void add_artifact(
    const Event& event,
    const journal::RunDirectory& directory,
    Delivery& batch) {
  const std::string path = event.text(fields::kPath).value_or("");
  const std::string name = event.text(fields::kName).value_or(path);
  const fs::path inside = fs::path(path).lexically_normal();
  if (path.empty() || inside.is_absolute() || *inside.begin() == "..") return;
  const fs::path from = directory.path / inside;
  const std::int64_t step = event.count(fields::kUpdate).value_or(0);
  std::error_code failed;
  if (!fs::is_directory(from, failed)) {
    batch.artifacts.push_back({from, name, step, ms(event.time_s)});
    return;
  }
  std::vector<fs::path> files;
  for (const auto& each : fs::recursive_directory_iterator(from, failed))
    if (each.is_regular_file(failed)) files.push_back(each.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files)
    batch.artifacts.push_back(
        {file,
         (fs::path(name) / file.lexically_relative(from)).generic_string(),
         step,
         ms(event.time_s)});
}

Status status_of(const std::string& ending) {
  if (ending == statuses::kFailed) return Status::failed;
  return ending == statuses::kStopped ? Status::killed : Status::finished;
}

void add_end(const Event& event, Delivery& batch) {
  const std::string ending = event.text(fields::kStatus).value_or("");
  batch.status = {status_of(ending), ms(event.time_s)};
  batch.tags.push_back({"temper.status", ending});
  const auto tag = [&](const char* key, const char* field) {
    const auto text = event.text(field);
    if (text && !text->empty())
      batch.tags.push_back({key, shortened(*text, kLongestTag)});
  };
  tag("temper.why", fields::kWhy);
  tag("temper.bottleneck", fields::kBottleneck);
  tag("temper.best_metric", fields::kBestMetric);
  if (const auto best = event.number(fields::kBest); best && !std::isnan(*best))
    batch.tags.push_back({"temper.best", cat(*best)});
}

} // namespace

void Marks::journal_was_cut() {
  for (const auto& [key, step] : high) {
    const auto [at, first] = skip.try_emplace(key, step);
    if (!first) at->second = std::max(at->second, step);
  }
  rollbacks = 0;
  rolled_to = 0;
}

bool Marks::tracker_has(const std::map<std::string, StoredRun::Last>& metrics) {
  bool more = false;
  for (const auto& [key, last] : metrics) {
    if (key.starts_with(kSystem)) {
      more = more || last.time_ms > system_ms;
      system_ms = std::max(system_ms, last.time_ms);
      system_step = std::max(system_step, last.step + 1);
      continue;
    }
    if (last.step <= highest(high, key)) continue;
    more = true;
    for (const std::string& mark : {key, mark_of(*this, key)}) {
      skip[mark] = std::max(skip[mark], last.step);
      high[mark] = std::max(high[mark], last.step);
    }
  }
  return more;
}

bool Marks::tracker_lacks(
    const std::map<std::string, StoredRun::Last>& metrics) const {
  return std::any_of(metrics.begin(), metrics.end(), [&](const auto& metric) {
    return !metric.first.starts_with(kSystem) &&
        metric.second.step < highest(high, metric.first);
  });
}

std::string shortened(const std::string& text, std::size_t bytes) {
  return std::string(cut_text(text, bytes));
}

std::string clean_key(const std::string& key) {
  std::string out;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    const bool keep = byte >= 0x80 || std::isalnum(byte) != 0 ||
        contains("_.-/ :", std::string_view(&c, 1));
    out += keep ? c : '_';
  }
  // Their keys are paths too: none that leads out, ends in nothing or doubles.
  std::vector<std::string> parts;
  for (const std::string& part : split(out, '/'))
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  out = shortened(join(parts, "/"), kLongestKey);
  return out.empty() ? "_" : out;
}

void translate(
    const Event& event,
    const journal::RunDirectory& directory,
    Marks& marks,
    Delivery& batch) {
  if (event.kind == kinds::kStep) {
    add_step(event, marks, batch);
  } else if (event.kind == kinds::kEpoch) {
    add_epoch(event, marks, batch);
  } else if (event.kind == kinds::kTest) {
    add_test(event, marks, batch);
  } else if (event.kind == kinds::kSystem) {
    add_system(event, marks, batch);
  } else if (
      event.kind == kinds::kIncident || event.kind == kinds::kHang ||
      event.kind == kinds::kDeath) {
    add_incident(event, marks, batch);
  } else if (event.kind == kinds::kCheckpoint) {
    add_checkpoint(event, directory, batch);
  } else if (event.kind == kinds::kRollback) {
    ++marks.rollbacks;
    marks.rolled_to = event.count(fields::kTo).value_or(0);
  } else if (event.kind == kinds::kGradients) {
    add_gradients(event, marks, batch);
  } else if (event.kind == kinds::kArtifact) {
    add_artifact(event, directory, batch);
  } else if (event.kind == kinds::kEnd) {
    add_end(event, batch);
  } else if (event.kind == kinds::kRun || event.kind == kinds::kResume) {
    batch.status = {Status::running, ms(event.time_s)};
    if (event.kind == kinds::kRun)
      for (const char* name :
           {"config.toml", "plan.json", "machine.json", "schema.json"})
        batch.artifacts.push_back(
            {directory.path / name, name, 0, ms(event.time_s)});
  }
}

} // namespace temper::track
