// Snapshots of a run that are durable or absent: checkpoints/step-<n>/ with
// state.safetensors (tensors) and state.json (counters, checksums), and the
// small files `latest` and `best` that name one. A snapshot is complete when
// its directory has its final name; loading picks the newest valid one and says
// so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/weights.h"

namespace temper::checkpoint {

struct Snapshot {
  std::int64_t update = 0; // committed updates
  std::uint32_t epoch = 0; // that the run is in
  std::string loader; // state of the training batches, JSON
  std::uint64_t journal_offset = 0;
  // Whatever else the loop remembers (best metric, plateau, sums so far), JSON.
  std::string loop;
  // Versions, device and threads that wrote it. Others may resume it, but
  // bit-identity is not claimed then.
  std::string writer;
  std::string config; // of the run, TOML; empty in format 1
  // How good it is, larger is better; no value: not judged.
  std::optional<double> score;
  bool best = false; // the best of the run until then
  graph::Weights tensors;
};

struct Retention {
  int last = 2; // never fewer than two good ones stay
  int best = 1; // beside those, by score
};

class Store {
 public:
  explicit Store(std::filesystem::path folder, Retention keep = {});

  // Written, synced, read back and verified before it gets its name; only then
  // older ones go. Error when the disk does not take it: the old ones stay.
  // One of the same update is replaced, and one of the two is always there.
  void save(const Snapshot& snapshot);

  // For a run that goes on from `newest`, which load_latest() gave: clears away
  // what a crash left, and makes `latest` and `best` name what they would if
  // there had been none. A disk that refuses is told, and no error.
  void recover(const Snapshot& newest);

  // The newest valid one; those that are damaged are passed over with a
  // warning. No value when there is none.
  std::optional<Snapshot> load_latest() const;
  std::optional<Snapshot> load_best() const;
  // Updates of those that are there, oldest first, the damaged too.
  std::vector<std::int64_t> list() const;

 private:
  struct Known {
    bool good = false;
    std::optional<double> score;
  };

  std::uint64_t next_number();
  void settle();
  void publish(std::int64_t update);
  void point_to(const Snapshot& newest) const;
  const Known& known(std::int64_t update);
  void remove_old();

  std::filesystem::path folder_;
  Retention keep_;
  std::map<std::int64_t, Known> known_; // those that were verified or failed
  std::uint64_t last_number_ = 0; // 0: nobody has looked yet
};

} // namespace temper::checkpoint
