#include "temper/journal/trace.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "temper/base/checkpoint_name.h"
#include "temper/base/cut_text.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/journal/restart_log.h"
#include "temper/journal/thinned.h"

namespace temper::journal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kName = "artifacts/trace.json";
constexpr int kProcess = 1;
constexpr int kThread = 1;
constexpr std::size_t kLongestText = 300;

// Events shown as marks: what went wrong or was changed because of it.
constexpr const char* kMarks[] = {
    kinds::kIncident,
    kinds::kRetry,
    kinds::kRollback,
    kinds::kMicroBatch,
    kinds::kLeak,
    kinds::kCheckpointFailed,
    kinds::kHang,
    kinds::kDeath};

// A curve: a field of a kind of event.
struct Curve {
  const char* kind;
  const char* field;
  const char* shown;
};
constexpr Curve kCurves[] = {
    {kinds::kStep, fields::kSamplesPerS, "samples/s"},
    {kinds::kStep, fields::kWait, "waiting for data (share)"},
    {kinds::kStep, fields::kMemoryBytes, "tensors (bytes)"},
    {kinds::kSystem, "cpu_utilization_percentage", "CPU (%)"},
    {kinds::kSystem, "process_memory_megabytes", "process (MB)"},
    {kinds::kSystem, "gpu_0_utilization_percentage", "GPU 0 (%)"}};

std::string shortened(const std::string& text) {
  return text.size() <= kLongestText ? text
                                     : cat(cut_text(text, kLongestText), "...");
}

// The number as the journal writes those that JSON has no word for.
json plain_number(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

// The fields that are numbers, flags or texts.
json arguments_of(const Event& event) {
  json made = json::object();
  for (const auto& [name, value] : event.fields) {
    if (const auto* flag = std::get_if<bool>(&value)) made[name] = *flag;
    if (const auto* count = std::get_if<std::int64_t>(&value))
      made[name] = *count;
    if (const auto* number = std::get_if<double>(&value))
      made[name] = plain_number(*number);
    if (const auto* text = std::get_if<std::string>(&value))
      if (name != fields::kConfig && name != fields::kWriter)
        made[name] = shortened(*text);
  }
  return made;
}

double seconds_in(const Event& event, const char* field) {
  const double seconds = event.number(field).value_or(0);
  return std::isfinite(seconds) ? std::max(seconds, 0.0) : 0;
}

class Trace {
 public:
  Trace() {
    for (const Curve& curve : kCurves)
      curves_.try_emplace(curve.shown, kMostPoints);
  }

  void see(const Event& event) {
    if (!std::isfinite(event.time_s)) return;
    if (event.kind == kinds::kRun || event.kind == kinds::kResume)
      return begin(event);
    if (!session_) return;
    if (std::find(std::begin(kMarks), std::end(kMarks), event.kind) !=
        std::end(kMarks)) {
      marks_.add(event);
      // A death is journaled by the session after it.
      if (event.kind == kinds::kDeath || event.kind == kinds::kHang) return;
    }
    session_->end_us = std::max(session_->end_us, us(event.time_s));
    if (event.kind == kinds::kEpoch) epoch(event);
    if (event.kind == kinds::kCheckpoint) checkpoints_.add(event);
    for (const Curve& curve : kCurves)
      if (event.kind == curve.kind)
        if (const auto value = event.number(curve.field);
            value && std::isfinite(*value))
          curves_.at(curve.shown).add({us(event.time_s), *value});
  }

  std::string text() {
    close_session();
    std::string out =
        cat("{\"displayTimeUnit\":\"ms\",\"otherData\":",
            dumped(about()),
            ",\"traceEvents\":[\n",
            dumped(named("process_name", name_)),
            ",\n",
            dumped(named("thread_name", "run")));
    const auto add = [&](const json& event) {
      out += ",\n";
      out += dumped(event);
    };
    for (Thinned<Span>* spans : {&sessions_, &preparations_, &epochs_})
      for (const Span& each : spans->take())
        add(span(each));
    for (const Span& each : validations_.take())
      add(span(each));
    for (const Event& event : checkpoints_.take())
      for (const bool end : {false, true})
        add(checkpoint(event, end));
    for (const Event& event : marks_.take())
      add(mark(event));
    for (auto& [name, points] : curves_)
      for (const auto& [at_us, value] : points.take())
        add(
            {{"ph", "C"},
             {"pid", kProcess},
             {"name", name},
             {"ts", at_us},
             {"args", {{"value", value}}}});
    return out + "\n]}\n";
  }

 private:
  struct Span {
    std::string name;
    std::int64_t begin_us = 0;
    std::int64_t end_us = 0;
    json arguments = json::object();
  };

  static std::string dumped(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  // Since the run began to prepare itself.
  std::int64_t us(double time_s) const {
    constexpr double kLongest_s = 1e10; // some 300 years
    return std::llround(
        std::clamp(time_s - origin_s_, 0.0, kLongest_s) * 1'000'000);
  }

  void begin(const Event& event) {
    close_session();
    const double prepared_s = seconds_in(event, fields::kPrepareS);
    if (sessions_.seen() == 0) {
      origin_s_ = event.time_s - prepared_s;
      name_ = cat("temper ", event.text(fields::kName).value_or(""));
    }
    Span made;
    made.name = cat("session ", sessions_.seen() + 1);
    made.begin_us = std::max(cursor_us_, us(event.time_s - prepared_s));
    made.end_us = std::max(made.begin_us, us(event.time_s));
    if (const auto update = event.count(fields::kUpdate))
      made.arguments["after_update"] = *update;
    cursor_us_ = made.begin_us;
    if (prepared_s > 0) {
      preparations_.add(
          {"preparing",
           made.begin_us,
           made.end_us,
           {{"prepare_s", prepared_s}}});
      cursor_us_ = made.end_us;
    }
    session_ = std::move(made);
  }

  void close_session() {
    if (!session_) return;
    session_->end_us = std::max(session_->end_us, cursor_us_);
    cursor_us_ = session_->end_us;
    sessions_.add(*std::exchange(session_, std::nullopt));
  }

  void epoch(const Event& event) {
    const double training_s = seconds_in(event, fields::kSeconds);
    const double validation_s = seconds_in(event, fields::kValidationS);
    const std::int64_t begin_us =
        std::max(cursor_us_, us(event.time_s - training_s - validation_s));
    const std::int64_t end_us = std::max(begin_us, us(event.time_s));
    const std::int64_t number = event.count(fields::kEpoch).value_or(0) + 1;
    cursor_us_ = end_us;
    epochs_.add({cat("epoch ", number), begin_us, end_us, arguments_of(event)});
    if (validation_s > 0)
      validations_.add(
          {"validation",
           std::clamp(us(event.time_s - validation_s), begin_us, end_us),
           end_us,
           {{"epoch", number - 1}, {"validation_s", validation_s}}});
  }

  static json named(const char* what, const std::string& name) {
    return {
        {"ph", "M"},
        {"pid", kProcess},
        {"tid", kThread},
        {"name", what},
        {"args", {{"name", name}}}};
  }

  static json span(const Span& from) {
    return {
        {"ph", "X"},
        {"pid", kProcess},
        {"tid", kThread},
        {"name", from.name},
        {"ts", from.begin_us},
        {"dur", from.end_us - from.begin_us},
        {"args", from.arguments}};
  }

  // Written beside the training, and told at the step after: it stands beside
  // the other spans, as an asynchronous one.
  json checkpoint(const Event& event, bool end) const {
    const std::int64_t update = event.count(fields::kUpdate).value_or(0);
    json made{
        {"ph", end ? "e" : "b"},
        {"cat", "checkpoint"},
        {"id", cat(update)},
        {"pid", kProcess},
        {"tid", kThread},
        {"name", cat("checkpoint ", checkpoint_name(update))},
        {"ts",
         us(end ? event.time_s
                : event.time_s - seconds_in(event, fields::kSeconds))}};
    if (!end) made["args"] = arguments_of(event);
    return made;
  }

  json mark(const Event& event) const {
    const auto what = event.text(fields::kWhat);
    return {
        {"ph", "i"},
        {"s", "p"},
        {"pid", kProcess},
        {"tid", kThread},
        {"cat", event.kind},
        {"name", what ? cat(event.kind, ": ", *what) : event.kind},
        {"ts", us(event.time_s)},
        {"args", arguments_of(event)}};
  }

  json about() const {
    std::size_t points = 0;
    bool all = epochs_.all() && checkpoints_.all() && marks_.all();
    for (const auto& [name, each] : curves_) {
      points += each.seen();
      all = all && each.all();
    }
    return {
        {"begin_s", origin_s_},
        {"sessions", sessions_.seen()},
        {"epochs", epochs_.seen()},
        {"checkpoints", checkpoints_.seen()},
        {"marks", marks_.seen()},
        {"points", points},
        {"complete", all}};
  }

  double origin_s_ = 0;
  std::string name_ = "temper";
  std::int64_t cursor_us_ = 0; // where the last span ended
  std::optional<Span> session_; // under way
  Thinned<Span> sessions_{kMostSpans};
  Thinned<Span> preparations_{kMostSpans};
  Thinned<Span> epochs_{kMostSpans};
  Thinned<Span> validations_{kMostSpans};
  Thinned<Event> checkpoints_{kMostSpans};
  Thinned<Event> marks_{kMostMarks};
  std::map<std::string, Thinned<std::pair<std::int64_t, double>>> curves_;
};

// Is its last line an end? Such a line may be long.
bool has_end(const fs::path& journal) {
  std::ifstream in(journal, std::ios::binary | std::ios::ate);
  std::string tail;
  for (std::int64_t left = in.tellg(); in && left > 0;) {
    const std::int64_t piece = std::min<std::int64_t>(left, 1 << 16);
    left -= piece;
    std::string bytes(static_cast<std::size_t>(piece), '\0');
    in.seekg(left);
    in.read(bytes.data(), piece);
    tail.insert(0, bytes);
    const auto before =
        tail.size() < 2 ? std::string::npos : tail.rfind('\n', tail.size() - 2);
    if (before == std::string::npos) continue;
    tail.erase(0, before + 1);
    break;
  }
  const auto event = from_line(trim(tail));
  return event && event->kind == kinds::kEnd;
}

} // namespace

std::string trace_json(const RunDirectory& directory) {
  Trace trace;
  Follower follower(directory.journal());
  for (;;) {
    const std::uint64_t before = follower.offset();
    for (const Event& event : follower.read())
      trace.see(event);
    if (follower.offset() == before) break;
  }
  for (const Event& event : missing_aside(directory))
    trace.see(event);
  return trace.text();
}

std::string write_trace(const RunDirectory& directory) {
  std::error_code failed;
  fs::create_directories(directory.artifacts(), failed);
  write_file_atomically(directory.path / kName, trace_json(directory));
  return kName;
}

void refresh_trace(const RunDirectory& directory) {
  std::error_code failed;
  if (!fs::exists(directory.path / kName, failed) ||
      !has_end(directory.journal()))
    write_trace(directory);
}

} // namespace temper::journal
