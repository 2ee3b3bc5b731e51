// When a run is saved and what goes into a checkpoint. The training thread
// makes a copy; a thread of the checkpoint room writes it. Saving changes
// nothing of the run: any cadence gives the same bits. No torch.
//
// The facts that a run must remember, and where they are:
//   format, versions, device, threads   Snapshot (format, writer)
//   the config, so that a resume knows what changed        Snapshot::config
//   parameters, buffers, optimiser, EMA, loss scale        Snapshot::tensors
//   updates, epoch, steps of it         Progress
//   best, patience, plateau             Progress
//   the guard, the governor's sizes     Progress
//   metric sums                         Progress (epoch_sums, engine_sums)
//   samples consumed (not prefetched), seed, epoch's order Snapshot::loader
//   end of the journal                  Snapshot::journal_offset
// Not needed: the learning rate (a function of the update), generators (seeded
// for every slice by seed and update; augmentation is keyed by seed, epoch and
// sample), gradients (only whole updates are saved), and a mark of a validation
// under way (an epoch whose loader is at its end is validated on resume).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "temper/base/error.h"
#include "temper/checkpoint/background_writer.h"
#include "temper/checkpoint/checkpoint.h"
#include "temper/config/config.h"
#include "temper/journal/journal.h"
#include "temper/train/engine/engine.h"
#include "temper/train/loop/progress.h"

namespace temper::train {

struct SaverParts {
  const config::Config& config;
  journal::Journal& journal;
  checkpoint::Store& store;
  std::string writer; // what makes the snapshots
  std::function<void(const journal::Event&)> tell;
  // True once each time somebody asks for a checkpoint now; null: nobody does.
  std::function<bool()> asked = {};
  std::function<double()> clock_s = {}; // null: the steady clock
  Heartbeat* heartbeat = nullptr; // of the thread that writes; null: nobody's
};

struct Save {
  std::string loader = {}; // empty: between two epochs
  bool best = false;
  std::optional<double> score = {}; // larger is better
  bool last = false; // of the run, or of its stop
};

class Saver {
 public:
  explicit Saver(SaverParts parts);

  // Asked after every step. Tells what became of earlier ones, too.
  bool due(const Progress& progress);
  // Hands it to the writer. The state is that after `progress`.
  void save(Progress progress, EngineState state, const Save& what);
  // There was no copy to hand over: tells so, as of one that was not written.
  // Nothing may be on its way.
  void fail(const Progress& progress, const Save& what, const std::string& why);
  // Is this very state on disk, or on its way?
  bool has(const Progress& progress);
  // Waits at most so long until nothing is on its way; true: nothing is.
  bool idle(double seconds);
  // Waits until nothing is on its way. The reason when the last one is not on
  // disk; empty: it is.
  std::string finish();
  // The error of a run that is in `state`, "done" or "stopped", when its last
  // checkpoint is not on disk.
  Error not_saved(const std::string& state, const std::string& why) const;

 private:
  struct Point {
    std::uint32_t epoch;
    std::int64_t update;
    std::int64_t step;
    friend bool operator==(const Point&, const Point&) = default;
  };
  static Point place_of(const Progress& progress);
  void see(const std::vector<checkpoint::Written>& ended, bool over = false);
  double now_s() const;

  SaverParts parts_;
  std::string config_; // TOML
  double last_s_; // when one was handed over
  std::int64_t last_update_ = -1;
  std::optional<Point> latest_; // handed over
  std::string failed_; // why the last one that ended is not on disk
  checkpoint::BackgroundWriter
      writer_; // the last member: its thread uses the others
};

} // namespace temper::train
