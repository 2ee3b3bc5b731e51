#include "temper/track/follow/journal_delivery.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/track/follow/identity.h"
#include "temper/track/follow/parent.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
namespace kinds = journal::kinds;

// Held while this follower lives; the system lets go of it when it dies.
Descriptor lock(const fs::path& file) {
  Descriptor held(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!held.open())
    throw Error(
        cat("[track] cannot write ",
            file.string(),
            ": ",
            std::strerror(errno),
            "."),
        "What was delivered is remembered in the run's directory: make it "
        "writable.");
  if (::flock(held.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(
        "[track] another process delivers this run to that place.",
        "Let it finish: it does the same.");
  return held;
}

} // namespace

JournalDelivery::JournalDelivery(
    journal::RunDirectory directory,
    Tracker& tracker,
    const std::string& id,
    FollowOptions options)
    : directory_(std::move(directory)),
      tracker_(tracker),
      options_(std::move(options)),
      id_(id),
      file_(directory_.path / cat("track-", id, ".json")),
      lock_(lock(directory_.path / cat(".track-", id, ".lock"))) {
  if (auto read = read_follow_state(file_)) state_ = *std::move(read);
  state_.where = tracker_.where();
}

void JournalDelivery::save(FollowState next) {
  write_file_atomically(file_, next.to_json());
  state_ = std::move(next);
}

bool JournalDelivery::begin() {
  journal::Follower first(directory_.journal());
  const auto events = first.read(1);
  if (events.empty()) return false;
  if (events[0].kind != kinds::kRun)
    throw Error(
        cat("[track] ",
            directory_.journal().string(),
            " does not begin with a run."));
  RunFacts facts = facts_of(events[0], directory_);
  facts.experiment = options_.experiment;
  facts.experiment_id = options_.experiment_id;
  facts.adopt = options_.adopt;
  facts.id = identity_of(events[0], directory_);
  facts.tags.push_back({kPlaceTag, place_of(directory_.path)});
  find_again(facts);
  const std::string parent_run = parent();
  Delivery child;
  if (!parent_run.empty())
    child.tags.push_back({"mlflow.parentRunId", parent_run});
  facts.tags.insert(facts.tags.end(), child.tags.begin(), child.tags.end());
  // The key is on disk before anything is made under it.
  save(state_);
  const bool made = tracker_.begin(facts, state_.memory);
  // It may have been there before it had a parent, or lain elsewhere.
  if (!made && moved_)
    child.tags.push_back({kPlaceTag, place_of(directory_.path)});
  if (!made && !child.empty()) tracker_.deliver(child);
  FollowState next = state_;
  if (made && state_.offset > 0) { // the place was emptied: all of it again
    next = {};
    next.key = state_.key;
    next.where = state_.where;
  }
  next.memory = tracker_.memory();
  next.run_id = tracker_.run_id();
  save(std::move(next));
  begun_ = true;
  return true;
}

// Sets the key under which the tracker's run is made or found, and brings what
// is remembered in line with what the tracker has.
void JournalDelivery::find_again(RunFacts& facts) {
  moved_ = false;
  FollowState next = state_;
  const bool remembers = !state_.key.empty();
  std::optional<StoredRun> stored;
  if (remembers) {
    facts.key = state_.key;
    stored = tracker_.find(facts, state_.memory);
  } else if (facts.adopt.empty()) {
    for (const auto& [key, memory] : known_names(directory_, facts.id)) {
      facts.key = key;
      stored = tracker_.find(facts, memory);
      if (stored) break;
    }
  }
  if (!remembers) next.key = stored ? facts.key : facts.id;
  // Whoever adopts a run of somebody else's adds to what that has.
  if (stored && options_.adopt.empty()) {
    if (const std::string other = other_place_of(
            *stored, facts, next.marks, tracker_.where(), directory_);
        !other.empty()) {
      log::note(
          cat("[track] ",
              directory_.path.string(),
              " is a copy of ",
              other,
              ", which ",
              tracker_.where(),
              " has as ",
              stored->id,
              ": the copy is a run of its own there."));
      next = {};
      next.where = state_.where;
      next.key = random_key();
      call_a_copy(facts, stored->id);
    } else {
      if (!remembers || next.marks.tracker_lacks(stored->metrics)) {
        next.marks = {}; // all is read again, and passed over if it is there
        next.offset = 0;
        next.fingerprint = 0;
        next.memory = stored->memory;
      }
      next.marks.tracker_has(stored->metrics);
      moved_ = stored->place != place_of(directory_.path);
      if (!remembers) forget_moved_places(directory_, stored->id);
    }
  }
  facts.key = next.key;
  state_ = std::move(next);
}

// MLflow's id of it; empty: it has none.
std::string JournalDelivery::parent() {
  if (options_.parent.empty()) return "";
  const std::string run = parent_id(
      options_.parent,
      fs::absolute(directory_.path).lexically_normal().parent_path(),
      id_,
      tracker_.where());
  if (run == state_.run_id)
    throw Error(
        cat("[track] ", directory_.name(), " cannot be its own parent."),
        "Name another run with track.parent.");
  require_run(tracker_, run);
  return run;
}

bool JournalDelivery::find_cut() {
  if (state_.offset == 0 ||
      fingerprint_before(directory_.journal(), state_.offset) ==
          state_.fingerprint)
    return false;
  FollowState next = state_;
  next.marks.journal_was_cut();
  next.offset = 0;
  next.fingerprint = 0;
  save(std::move(next));
  return true;
}

bool JournalDelivery::pump() {
  if (!begun_ && !begin()) return false;
  journal::Follower follower(directory_.journal(), state_.offset);
  const auto events = follower.read(tracker_.lines_at_once());
  FollowState next = state_;
  next.offset = follower.offset();
  next.fingerprint =
      fingerprint_before(directory_.journal(), next.offset).value_or(0);
  // Looked for after all reading: it may be cut at any time.
  if (find_cut()) return pump();
  if (next.offset == state_.offset) return false;
  Delivery batch;
  for (const journal::Event& event : events)
    translate(event, directory_, next.marks, batch);
  next.points += static_cast<std::int64_t>(batch.points.size());
  if (batch.status) next.ended = batch.status->status != Status::running;
  try {
    if (!batch.empty()) tracker_.deliver(batch);
  } catch (...) {
    begun_ = false; // what it knew of the place may be wrong by now
    throw;
  }
  next.memory = tracker_.memory();
  save(std::move(next));
  return true;
}

void JournalDelivery::close(Status status) {
  if (!begun_ && !begin()) return;
  if (state_.ended) return;
  Delivery batch;
  batch.status = {status, now_ms()};
  // Nobody was there to journal it.
  const std::filesystem::path trace = directory_.artifacts() / "trace.json";
  std::error_code failed;
  if (fs::exists(trace, failed))
    batch.artifacts.push_back({trace, "trace.json", 0, now_ms()});
  tracker_.deliver(batch);
  FollowState next = state_;
  next.ended = true;
  next.memory = tracker_.memory();
  save(std::move(next));
}

std::int64_t JournalDelivery::behind() const {
  return lines_after(directory_.journal(), state_.offset);
}

} // namespace temper::track
