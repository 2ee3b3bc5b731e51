#include "temper/cli/commands/trainer_screen.h"

#include "temper/cli/commands/supervise.h"
#include "temper/journal/event_kinds.h"

namespace temper::cli {
namespace {

namespace kinds = journal::kinds;

// The message when a signal ends the process and not the loop.
constexpr const char* kAsItWas =
    "interrupted before the first step; the run's checkpoints are as they "
    "were.";
constexpr const char* kNoCheckpoint =
    "interrupted before the first checkpoint; --resume begins the run again.";
constexpr const char* kLastCheckpoint =
    "interrupted; --resume goes on from the last checkpoint.";

// A thread that reads or computes may take a while to end.
constexpr unsigned kEndsWithin_s = 30;
constexpr unsigned kStopsWithin_s = 3;

} // namespace

TrainerScreen::TrainerScreen(
    Console& console,
    InterruptWatch& interrupts,
    session::Session& session,
    bool fresh)
    : console_(console),
      interrupts_(interrupts),
      session_(session),
      fresh_(fresh),
      early_(fresh ? kInterrupted : kStopped),
      untouched_(fresh ? kNothingYet : kAsItWas),
      view_(console, [&session] { return session.backlog(); }),
      line_(console) {
  // Until it trains there is nothing to put away.
  interrupts_.leave_at_once(early_, untouched_);
}

void TrainerScreen::preparing(
    const std::string& what,
    std::int64_t done,
    std::int64_t total) {
  interrupts_.leave_in_time(early_, untouched_); // it puts its files away
  interrupts_.check();
  line_.show(
      what,
      static_cast<std::uint64_t>(done),
      static_cast<std::uint64_t>(total),
      false);
}

void TrainerScreen::measuring(const std::string& what) {
  console_.progress(what);
}

void TrainerScreen::opening_directory() {
  interrupts_.leave_in_time(early_, fresh_ ? kNoCheckpoint : kAsItWas);
}

void TrainerScreen::started(
    const journal::RunDirectory&,
    const train::RunOverview& overview,
    const config::Config& config) {
  view_.start(overview, config);
}

void TrainerScreen::event(const journal::Event& event) {
  if (event.kind == kinds::kCheckpoint)
    interrupts_.leave_in_time(kStopped, kLastCheckpoint);
  view_.see(event);
}

void TrainerScreen::step(const train::Glimpse& glimpse) {
  view_.see(glimpse);
}

std::vector<std::string> TrainerScreen::finishing(const train::RunResult&) {
  console_.progress("saving the model and pictures ...");
  return {};
}

void TrainerScreen::ended(const train::Outcome& outcome) {
  const int code = session::exit_code(outcome, session_.supervised());
  interrupts_.leave_anyway(
      code, code == kDone ? kEndsWithin_s : kStopsWithin_s);
}

void TrainerScreen::finished(const train::RunResult& result) {
  interrupts_.over();
  view_.finish(result);
}

void TrainerScreen::delivering(
    const std::vector<std::string>& places,
    double patience_s) {
  show_delivering(console_, places, patience_s);
}

void TrainerScreen::delivered(const std::string& place) {
  show_delivered(console_, place);
}

} // namespace temper::cli
