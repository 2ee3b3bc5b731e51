#include "temper/train/watch/hang.h"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/restart_log.h"
#include "temper/machine/stacks.h"

namespace temper::train {
namespace {

namespace fs = std::filesystem;
namespace kinds = journal::kinds;
namespace fields = journal::fields;

// A thread may hang while it holds a lock that the report needs: memory's, the
// log's, the loader of libraries'. Then the alarm ends the process instead.
class Fuse {
 public:
  Fuse() {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGALRM, &action, &before_);
    ::alarm(kSeconds);
  }
  ~Fuse() {
    ::alarm(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Fuse(const Fuse&) = delete;
  Fuse& operator=(const Fuse&) = delete;

 private:
  static constexpr unsigned kSeconds = 60;
  struct sigaction before_ {};
};

// The name that was written, below the run's directory; empty: none.
std::string write_stacks(
    const journal::RunDirectory& directory,
    const std::string& sentence) {
  std::error_code failed;
  fs::create_directories(directory.artifacts(), failed);
  for (int n = 1; n < 10'000; ++n) {
    const fs::path path = directory.artifacts() / cat("hang-", n, ".txt");
    if (fs::exists(path, failed)) continue;
    std::ofstream file(path);
    file << sentence << "\n\n" << machine::to_text(machine::all_stacks());
    file.close();
    return file ? cat("artifacts/hang-", n, ".txt") : "";
  }
  return "";
}

} // namespace

std::string describe(const Hang& hang, const std::string& in_hand) {
  return cat(
      "no sign of life for ",
      seconds_text(hang.silent_s),
      " while ",
      to_string(hang.phase),
      hang.update >= 0 ? cat(", in step ", count_text(hang.update + 1)) : "",
      in_hand.empty() ? "" : cat(": ", in_hand));
}

journal::Event hang_event(
    const Hang& hang,
    const std::string& in_hand,
    const std::string& stacks) {
  journal::Event event;
  event.kind = kinds::kHang;
  event.fields = {
      {fields::kPhase, std::string(to_string(hang.phase))},
      {fields::kUpdate, hang.update},
      {fields::kSilentS, hang.silent_s},
      {fields::kWhy, describe(hang, in_hand)}};
  if (!in_hand.empty()) event.fields.emplace_back(fields::kInHand, in_hand);
  if (!stacks.empty()) event.fields.emplace_back(fields::kStacks, stacks);
  return event;
}

void Mailbox::put(journal::Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::optional<journal::Event> Mailbox::take() {
  const std::lock_guard lock(mutex_);
  if (events_.empty()) return std::nullopt;
  journal::Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

RunWatch::RunWatch(RunWatchParts parts)
    : parts_(std::move(parts)),
      watchdog_(
          parts_.heartbeats,
          parts_.seconds,
          {[this](const Hang& hang) { slow(hang); },
           [this](const Hang& hang) { hung(hang); },
           [this] {
             if (parts_.trackers.pulse)
               parts_.trackers.pulse(parts_.heartbeats.tracking);
           },
           [this] { return delay_.since_last_s(); }}) {}

std::string RunWatch::in_hand(const Hang& hang) const {
  if (hang.phase == Phase::data_wait && parts_.train != nullptr)
    return parts_.train->in_hand();
  if (hang.phase == Phase::validating && parts_.val != nullptr)
    return parts_.val->in_hand();
  if (hang.worker == Worker::tracking && parts_.trackers.awaited)
    return parts_.trackers.awaited();
  return "";
}

void RunWatch::slow(const Hang& hang) const {
  if (hang.worker == Worker::tracking) return; // it ends nothing
  log::warn(
      cat("[train] ",
          describe(hang, in_hand(hang)),
          ". Silence ends the run after ",
          seconds_text(parts_.seconds),
          " (watchdog.seconds)."));
}

void RunWatch::hung(const Hang& hang) const {
  // Training neither waits for a tracker nor ends because of one.
  if (hang.worker == Worker::tracking) {
    const std::string held = in_hand(hang);
    log::warn(cat("[train] ", describe(hang, held), ". Training goes on."));
    if (parts_.mailbox != nullptr)
      parts_.mailbox->put(hang_event(hang, held, ""));
    return;
  }
  const Fuse fuse;
  const std::string held = in_hand(hang);
  const std::string sentence = cat("[train] ", describe(hang, held), ".");
  const std::string stacks = write_stacks(parts_.directory, sentence);
  try {
    journal::set_aside(parts_.directory, hang_event(hang, held, stacks));
  } catch (const std::exception& error) {
    log::warn(error.what());
  }
  log::warn(
      cat(sentence,
          stacks.empty() ? ""
                         : cat(" Where every thread is: ",
                               (parts_.directory.path / stacks).string(),
                               ".")));
  if (parts_.give_up) parts_.give_up();
}

} // namespace temper::train
