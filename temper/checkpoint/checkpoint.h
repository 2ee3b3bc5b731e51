// Snapshots of a run that are durable or absent: checkpoints/step-<n>/ with
// state.safetensors (tensors) and state.json (counters, checksums), and the
// small files `latest` and `best` that name one. A snapshot is complete when
// its directory has its final name; loading picks the newest valid one and says
// so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/weights.h"

namespace temper::checkpoint {

struct Snapshot {
  std::int64_t update = 0; // committed updates
  std::uint32_t epoch = 0; // that the run is in
  std::string loader; // state of the training batches, JSON
  std::uint64_t journal_offset = 0;
  // Whatever else the loop remembers (best metric, plateau, sums so far), JSON.
  std::string loop;
  // What wrote it: versions, device, threads. Another one resumes, but claims
  // no bit-identity.
  std::string writer;
  graph::Weights tensors;
};

class Store {
 public:
  // `keep_last` snapshots stay beside the best; never fewer than two.
  Store(std::filesystem::path folder, int keep_last);

  // Written, synced, read back and verified before it gets its name; only then
  // older ones go. Error when the disk does not take it: the old ones stay.
  void save(const Snapshot& snapshot, bool best);

  // The newest valid one; those that are damaged are passed over with a
  // warning. Nothing when there is none.
  std::optional<Snapshot> load_latest() const;
  std::optional<Snapshot> load_best() const;
  // Updates of those that are there, oldest first.
  std::vector<std::int64_t> list() const;

 private:
  void remove_old() const;

  std::filesystem::path folder_;
  int keep_last_;
};

} // namespace temper::checkpoint
