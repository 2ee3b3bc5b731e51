// How many samples are computed at once, while a run goes on: smaller after an
// out-of-memory error, under memory pressure or close to the budget, larger
// again when there has been room for long. The effective batch never changes.
// A pure state machine: the loop feeds it, nothing here reads a clock or the
// machine. Few distinct sizes, since each costs a device kernels or a graph of
// its own: the whole batch, a half, a quarter, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/gauges.h"

namespace temper::memory {

struct GovernorOptions {
  int batch = 1; // samples of one update
  int group = 1; // sizes are multiples of it
  bool may_split = true; // false: the loss couples samples
  int fixed = 0; // asked for by the user: never changed
  int most = 0; // never more at once; 0: the whole batch
  int start = 0; // what the forecast chose; 0: as many as allowed
  bool batch_norm = false; // statistics that depend on the split
  // Peak bytes of tensors with n samples at once: base + n * a sample's. 0: not
  // known; then twice the samples are taken for twice the bytes.
  double base_bytes = 0;
  double sample_bytes = 0;
};

enum class Cause { out_of_memory, pressure, budget, room };
const char* to_string(Cause cause);

struct Change {
  int from = 0;
  int to = 0; // equal to `from`: the same once more, with empty caches
  Cause cause = Cause::room;
  std::string why; // a sentence

  bool again() const {
    return from == to;
  }
};

// The memory after a step that was committed; 0: not known. The machine's part
// is there when it has been looked at since the last one.
struct MemorySample {
  std::uint64_t peak_bytes = 0; // of tensors, in the step
  std::uint64_t budget_bytes = 0; // for tensors
  std::uint64_t available_bytes = 0; // to programs, without swapping
  machine::Pressure pressure = machine::Pressure::unknown;
  std::optional<double> memory_stall; // as machine::Sample has it
};

class Governor {
 public:
  explicit Governor(const GovernorOptions& options = {});

  // Samples at once; 0: the whole batch.
  int micro_batch() const;
  // Is there a size below this one, and may it be used?
  bool can_shrink() const;

  // A step of `samples` (0: a full batch) ran out of memory and was undone. The
  // first time the same size is tried again, then smaller ones. No value: it
  // cannot shrink further, refusal() says why.
  std::optional<Change> out_of_memory(int samples = 0);
  std::string refusal() const;

  // Called after every committed step; changes count from the next one.
  std::optional<Change> see(const MemorySample& now);

  // The governor's state for the checkpoint: a run that goes on uses the same
  // sizes.
  std::string state() const; // JSON
  void restore(const std::string& state);

 private:
  struct Level {
    int samples = 0;
    int failures = 0; // out of memory, or too close to the budget
  };

  int samples_at(std::size_t level) const;
  double forecast(int samples, const MemorySample& now) const;
  bool has_room(const MemorySample& now) const;
  Change move(std::size_t to, Cause cause, const std::string& because);

  GovernorOptions options_;
  std::vector<Level> levels_; // the largest first
  std::size_t level_ = 0;
  bool retried_ = false; // in the step at hand
  int calm_ = 0; // committed steps without a reason to shrink
  int calm_needed_ = 0;
  int pressed_ = 0; // samples in a row that saw pressure
  bool told_splitting_ = false;
};

// The sizes that may be used, the largest first.
std::vector<int> micro_batch_sizes(const GovernorOptions& options);

// The effect of splitting a batch on BatchNorm, in a sentence.
std::string batch_norm_note();

} // namespace temper::memory
