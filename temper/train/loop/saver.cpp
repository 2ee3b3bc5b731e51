#include "temper/train/loop/saver.h"

#include <chrono>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/print.h"
#include "temper/train/loop/loop_events.h"

namespace temper::train {

Saver::Saver(SaverParts parts)
    : parts_(std::move(parts)),
      config_(config::to_toml(parts_.config)),
      last_s_(now_s()),
      // A checkpoint names a place in the journal: that must be there first.
      writer_(
          parts_.store,
          [this] {
            beat(parts_.heartbeat, Phase::checkpoint);
            parts_.journal.sync();
          },
          [this] { beat(parts_.heartbeat, Phase::resting); }) {}

double Saver::now_s() const {
  return parts_.clock_s ? parts_.clock_s() : steady_seconds();
}

Saver::Point Saver::place_of(const Progress& progress) {
  return {progress.epoch, progress.update, progress.step};
}

bool Saver::due(const Progress& progress) {
  see(writer_.take());
  if (parts_.asked && parts_.asked()) return true;
  const config::Checkpoint& every = parts_.config.checkpoint;
  if (every.every_steps > 0 && progress.update != last_update_ &&
      progress.update % every.every_steps == 0)
    return true;
  return every.every_seconds > 0 && now_s() - last_s_ >= every.every_seconds;
}

void Saver::save(Progress progress, EngineState state, const Save& what) {
  last_s_ = now_s();
  last_update_ = progress.update;
  latest_ = place_of(progress);
  progress.engine_sums = std::move(state.training_sums);
  checkpoint::Snapshot made;
  made.update = progress.update;
  made.epoch = progress.epoch;
  made.loader = what.loader;
  made.journal_offset = parts_.journal.offset();
  made.loop = progress.to_json();
  made.writer = parts_.writer;
  made.config = config_;
  made.score = what.score;
  made.best = what.best;
  made.tensors = std::move(state.tensors);
  writer_.submit(std::move(made), what.last);
}

void Saver::fail(
    const Progress& progress,
    const Save& what,
    const std::string& why) {
  last_s_ = now_s(); // the next one is made when it is due
  last_update_ = progress.update;
  latest_ = std::nullopt;
  checkpoint::Written written;
  written.update = progress.update;
  written.best = what.best;
  written.last = what.last;
  written.failed = why;
  see({written});
}

bool Saver::has(const Progress& progress) {
  see(writer_.take());
  return latest_ && *latest_ == place_of(progress) && failed_.empty();
}

bool Saver::idle(double seconds) {
  return writer_.idle(seconds);
}

std::string Saver::finish() {
  see(writer_.wait(), true);
  return failed_;
}

void Saver::see(const std::vector<checkpoint::Written>& ended, bool over) {
  for (const checkpoint::Written& each : ended) {
    failed_ = each.failed;
    if (!failed_.empty())
      log::warn(
          cat("the checkpoint after update ",
              each.update,
              " could not be written: ",
              each.failed,
              over || each.last ? "" : " The run goes on.",
              parts_.store.list().empty() ? " There is none before it."
                                          : " The one before stays."));
    parts_.tell(checkpoint_event(each));
  }
}

Error Saver::not_saved(const std::string& state, const std::string& why) const {
  const auto last = parts_.store.list();
  return Error(
      cat("[train] the run is ",
          state,
          ", but its last checkpoint could not be written: ",
          why),
      last.empty() ? "Make room, and start it again."
                   : cat("Make room and go on with --resume: it repeats what "
                         "came after update ",
                         last.back(),
                         "."));
}

} // namespace temper::train
