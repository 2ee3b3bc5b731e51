// The translation of the journal's events into what trackers take. A pure
// function of the events and of the marks, so that delivering again gives the
// same again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"
#include "temper/track/tracker.h"

namespace temper::track {

// The record of what was delivered, as far as it matters for what comes next.
struct Marks {
  // Metric -> its last step; after a rollback, where steps come again that are
  // others, a mark of its own for each rollback and the update it went back to.
  std::map<std::string, std::int64_t> high;
  // The same when the journal was cut back to a checkpoint: what a resumed run
  // does over again is not delivered over again.
  std::map<std::string, std::int64_t> skip;
  std::int64_t rollbacks = 0; // read, from the journal's beginning
  std::int64_t rolled_to = 0; // the update the last one went back to
  std::int64_t system_step = 0; // of the next system metrics
  std::int64_t system_ms = 0; // when the last were read
  std::int64_t note_ms = 0;
  std::int64_t incidents = 0;

  void journal_was_cut(); // and is read from its beginning
  // The tracker has all up to these; true when that is more than was known.
  bool tracker_has(const std::map<std::string, StoredRun::Last>& metrics);
  // True when the tracker has less than was delivered.
  bool tracker_lacks(
      const std::map<std::string, StoredRun::Last>& metrics) const;
  friend bool operator==(const Marks&, const Marks&) = default;
};

// The facts in the journal's first event, "run".
RunFacts facts_of(
    const journal::Event& run,
    const journal::RunDirectory& directory);

void translate(
    const journal::Event& event,
    const journal::RunDirectory& directory,
    Marks& marks,
    Delivery& batch);

// A key that MLflow takes: letters, digits and _ . - / : and blanks.
std::string clean_key(const std::string& key);
// The longest value of a tag that MLflow takes, in bytes.
constexpr std::size_t kLongestTag = 8000;
// At most `bytes` of the text, and no half of a letter.
std::string shortened(const std::string& text, std::size_t bytes);

} // namespace temper::track
