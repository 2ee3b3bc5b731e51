#include "temper/cli/view/train_notes.h"

#include <algorithm>
#include <vector>

#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"

namespace temper::cli {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace incidents = journal::incidents;
namespace reactions = journal::reactions;

constexpr int kMost = 3; // of a kind
constexpr std::size_t kMostSamples = 8;

std::string update_text(const journal::Event& event) {
  return cat(
      "after update ", count_text(event.count(fields::kUpdate).value_or(0)));
}

// "[4,17,9]"
std::string samples_text(const std::string& list) {
  if (list.size() <= 2) return "";
  const auto all = split(list.substr(1, list.size() - 2), ',');
  const std::vector<std::string> shown(
      all.begin(),
      all.begin() +
          static_cast<std::ptrdiff_t>(std::min(all.size(), kMostSamples)));
  return cat(
      " Samples of the batch: ",
      join(shown, ", "),
      all.size() > shown.size()
          ? cat(" and ", all.size() - shown.size(), " more")
          : "",
      ".");
}

// The text as the end of a sentence, without its full stop.
std::string plain(std::string text) {
  while (!text.empty() && (text.back() == '.' || text.back() == ' '))
    text.pop_back();
  return text;
}

std::string incident_text(const journal::Event& event) {
  const std::string what = event.text(fields::kWhat).value_or("");
  const std::string why = plain(event.text(fields::kWhy).value_or(what));
  if (what == incidents::kOverflow) return ""; // fp16's everyday business
  if (what != incidents::kNotFinite)
    return cat(why, " (", update_text(event), ").");
  const std::string then = event.text(fields::kThen).value_or("");
  return cat(
      why, // which names the update
      ": ",
      then == reactions::kSkip           ? "the batch is passed over."
          : then == reactions::kRollback ? "the run goes back to a good state."
                                         : "the run stops.",
      event.text(fields::kCause)
          ? cat(" ", *event.text(fields::kCause))
          : samples_text(event.json(fields::kSamples).value_or("")));
}

std::string rollback_text(const journal::Event& event) {
  const double factor = event.number(fields::kLrFactor).value_or(1);
  return cat(
      "the run went back to update ",
      count_text(event.count(fields::kTo).value_or(0)),
      factor < 1 ? cat(", and learns at ",
                       decimals(100 * factor, 0),
                       " % of "
                       "its rate")
                 : "",
      ".");
}

} // namespace

bool is_good_news(const journal::Event& event) {
  return event.text(fields::kWhat) == incidents::kAsFastAgain ||
      (event.kind == kinds::kMicroBatch &&
       event.count(fields::kTo).value_or(0) >
           event.count(fields::kFrom).value_or(0));
}

std::string note_text(const journal::Event& event) {
  if (event.kind == kinds::kIncident) return incident_text(event);
  if (event.kind == kinds::kRollback) return rollback_text(event);
  if (event.kind == kinds::kRetry || event.kind == kinds::kMicroBatch)
    return cat(
        plain(event.text(fields::kWhy).value_or("")),
        " (",
        update_text(event),
        ").");
  if (event.kind == kinds::kNote) return event.text(fields::kText).value_or("");
  if (event.kind == kinds::kLeak)
    return cat(plain(event.text(fields::kWhy).value_or("")), ".");
  return "";
}

std::string TrainNotes::see(const journal::Event& event) {
  const std::string text = note_text(event);
  if (text.empty()) return "";
  const int told = ++told_[event.kind];
  if (told > kMost) return "";
  return told == kMost ? cat(text, " Further ones are in the journal only.")
                       : text;
}

} // namespace temper::cli
