// Follows a run's journal for one tracker: reads what is new, delivers it,
// remembers how far it is. Each point is delivered once, whoever crashes when:
//
//   read from the remembered offset -> deliver -> remember (atomically)
//
// A crash before "remember" delivers the same batch again, which trackers do
// not store twice. A resumed run cuts its journal back to a checkpoint; the
// follower sees that the bytes before its offset are gone, reads from the
// beginning and passes over the steps it had delivered.
//
// The tracker's run is found by the run's own id, wherever its directory and
// the tracker's lie: identity.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "temper/base/process/spawn.h"
#include "temper/journal/run_directory.h"
#include "temper/track/follow/delivery_state.h"
#include "temper/track/tracker.h"

namespace temper::track {

struct FollowOptions {
  std::string experiment = "temper";
  std::string experiment_id; // instead, when not empty
  std::string adopt; // an existing run of the tracker's, by its id
  std::string parent; // track.parent, see parent.h
};

class JournalDelivery {
 public:
  // `id` names the place among those that this run is delivered to; a file
  // track-<id>.json. Error when another process delivers there right now.
  JournalDelivery(
      journal::RunDirectory directory,
      Tracker& tracker,
      const std::string& id,
      FollowOptions options = {});

  // Delivers the next lines; false when there were none. Unavailable or Error
  // from the tracker: nothing is lost, the same comes next time.
  bool pump();
  // Tells the tracker the end of a run whose journal has none. Everything must
  // have been pumped.
  void close(Status status);

  // Lines of the journal that are not delivered.
  std::int64_t behind() const;
  const FollowState& state() const {
    return state_;
  }

 private:
  bool begin();
  void find_again(RunFacts& facts);
  std::string parent();
  bool find_cut();
  void save(FollowState next);

  journal::RunDirectory directory_;
  Tracker& tracker_;
  FollowOptions options_;
  std::string id_;
  std::filesystem::path file_;
  Descriptor lock_;
  FollowState state_;
  bool begun_ = false;
  bool moved_ = false; // the tracker has it from another directory
};

} // namespace temper::track
