// The consumer's side of a ring: taking batches, closing the gaps that bad
// samples left, and showing the rest as a Batch. Shared by the loaders.
// Private to data/loader.
#pragma once

#include <chrono>
#include <cstdint>

#include "temper/data/loader/loader.h"
#include "temper/data/loader/ring.h"

namespace temper::data {

// Takes one batch after the other, gives each back when the next is wanted,
// and knows how long that took.
class BatchReader {
 public:
  // Forgets the last epoch: none of its batches is held any more.
  void begin_epoch();
  // Gives the last one back and waits for the next for at most so long; true:
  // take() comes back at once.
  bool ready(Ring& ring, double seconds);
  // The next batch; null at the end of the epoch.
  RingBatch* take(Ring& ring);

  double last_wait_s() const {
    return last_wait_s_;
  }
  double wait_s() const {
    return wait_s_;
  }
  double first_batch_s() const {
    return first_batch_s_;
  }

 private:
  std::chrono::steady_clock::time_point begun_;
  bool holding_ = false;
  double waited_s_ = 0; // in ready(), for the next batch
  double last_wait_s_ = 0;
  double wait_s_ = 0;
  double first_batch_s_ = 0; // of the first epoch
};

// Counts bad samples and names the first few of an epoch. It sees them in the
// order of the batches, so that it says the same in every run.
class BadTally {
 public:
  explicit BadTally(BadPolicy policy) : policy_(policy) {}

  void begin_epoch() {
    in_epoch_ = 0;
  }
  // Samples left in the batch. Under BadPolicy::replace all are: another one
  // is in the slot already.
  int remove(RingBatch& batch);
  void end_epoch(std::uint32_t epoch) const;

  std::int64_t in_epoch() const {
    return in_epoch_;
  }
  std::int64_t all() const {
    return all_;
  }

 private:
  BadPolicy policy_;
  std::int64_t in_epoch_ = 0;
  std::int64_t all_ = 0;
};

// Fills `out`, all but its number.
void show_batch(
    const SampleLayout& layout,
    RingBatch& batch,
    int size,
    HostBatch& out);

} // namespace temper::data
