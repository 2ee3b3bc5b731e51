#include "temper/cli/view/live_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "temper/base/text.h"
#include "temper/cli/terminal/figures.h"

namespace temper::cli {
namespace {

struct LineField {
  std::string text;
  int weight = 0; // the smallest goes first; 0: it stays
};

// Within `room` columns; none when that is too narrow to be one.
std::string bar(double part, std::size_t room) {
  constexpr std::size_t kNarrowest = 6;
  constexpr std::size_t kWidest = 24;
  if (room < kNarrowest + 3) return "";
  const std::size_t width = std::min(room - 3, kWidest);
  const auto full = static_cast<std::size_t>(
      std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  return cat("[", std::string(full, '='), std::string(width - full, ' '), "] ");
}

std::vector<LineField> fields_of(
    const train::Glimpse& glimpse,
    double left_s,
    const std::string& noun,
    const std::string& behind) {
  std::vector<LineField> fields{
      {glimpse.steps > 0 ? cat(glimpse.step, "/", glimpse.steps)
                         : cat("step ", glimpse.step)}};
  const auto add = [&](const std::string& text, int weight) {
    if (!text.empty()) fields.push_back({text, weight});
  };
  add(behind, 7);
  const std::string left =
      std::isnan(left_s) ? "" : cat(seconds_text(left_s), " left");
  if (glimpse.validating) {
    add("validating", 8);
    add(left, 5);
    return fields;
  }
  add(cat("loss ", figure_text(glimpse.loss)), 8);
  if (!std::isnan(glimpse.accuracy))
    add(cat("acc ", percent_text(glimpse.accuracy, 2)), 6);
  add(cat("lr ", rate_text(glimpse.lr)), 3);
  if (glimpse.samples_per_s > 0)
    add(cat(decimals(glimpse.samples_per_s, 0), " ", noun, "/s"), 4);
  add(left, 5);
  if (glimpse.memory_bytes > 0) add(bytes_text(glimpse.memory_bytes), 2);
  add(cat("waits ", decimals(glimpse.waiting * 100, 0), " %"), 1);
  return fields;
}

std::string joined(const std::vector<LineField>& fields) {
  std::vector<std::string> texts;
  for (const LineField& field : fields)
    texts.push_back(field.text);
  return join(texts, "  ");
}

} // namespace

std::string glimpse_text(
    const train::Glimpse& glimpse,
    double left_s,
    const std::string& noun,
    int width,
    const std::string& behind) {
  const std::string head =
      cat("epoch ", glimpse.epoch + 1, "/", glimpse.epochs, " ");
  auto fields = fields_of(glimpse, left_s, noun, behind);
  const auto columns = static_cast<std::size_t>(std::max(width - 1, 0));
  while (fields.size() > 1 && head.size() + joined(fields).size() > columns)
    fields.erase(std::min_element(
        fields.begin() + 1, fields.end(), [](const auto& a, const auto& b) {
          return a.weight < b.weight;
        }));
  const std::string words = joined(fields);
  const std::size_t taken = head.size() + words.size();
  if (taken > columns) return words.size() <= columns ? words : "";
  const std::string drawn = glimpse.steps > 0
      ? bar(static_cast<double>(glimpse.step) /
                static_cast<double>(glimpse.steps),
            columns - taken)
      : "";
  return cat(head, drawn, words);
}

std::string backlog_text(const session::Backlog& backlog) {
  std::vector<std::string> parts;
  if (backlog.mlflow > 0)
    parts.push_back(cat("mlflow ", count_text(backlog.mlflow), " behind"));
  if (backlog.tensorboard > 0)
    parts.push_back(
        cat("tensorboard ", count_text(backlog.tensorboard), " behind"));
  return join(parts, ", ");
}

Pace::Reading Pace::see(const train::Glimpse& glimpse, Clock::time_point now) {
  constexpr std::chrono::milliseconds kApart{200};
  constexpr std::chrono::seconds kWindow{20};
  if (glimpse.step <= last_step_ || glimpse.validating != was_validating_) {
    marks_.clear();
    samples_ = 0;
  }
  last_step_ = glimpse.step;
  was_validating_ = glimpse.validating;
  samples_ += glimpse.samples;
  if (marks_.empty() || now - marks_.back().time >= kApart)
    marks_.push_back({now, glimpse.step, samples_});
  while (marks_.size() > 2 && now - marks_[1].time >= kWindow)
    marks_.pop_front();
  const Mark& from = marks_.front();
  const double seconds = std::chrono::duration<double>(now - from.time).count();
  const std::int64_t seen = glimpse.step - from.step;
  if (seen == 0 || seconds <= 0) return {0, std::nan("")};
  return {
      static_cast<double>(samples_ - from.samples) / seconds,
      glimpse.steps == 0 ? std::nan("")
                         : seconds / static_cast<double>(seen) *
              static_cast<double>(glimpse.steps - glimpse.step)};
}

} // namespace temper::cli
