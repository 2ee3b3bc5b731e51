#include "temper/session/parent.h"

#include <cstring>
#include <new>

#include "temper/base/exit_codes.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/session/board.h"
#include "temper/supervise/system.h"

namespace temper::session {
namespace {

supervise::Whereabouts read(const Board& board) {
  supervise::Whereabouts where;
  if (board.has_run.load(std::memory_order_acquire)) where.run = board.run;
  where.update = board.heartbeats.update;
  where.saved = board.saved;
  if (where.update >= 0)
    where.doing = train::to_string(board.heartbeats.training.phase.load());
  return where;
}

void show_tracker(Board& board, const std::string& where) {
  if (where == board.tracker) return;
  board.has_tracker = false;
  const std::string shown = where.substr(0, Board::kLongestName - 1);
  std::memcpy(board.tracker, shown.c_str(), shown.size() + 1);
  board.has_tracker.store(true, std::memory_order_release);
}

// Tells a trainer that is about to start which run it goes on with.
void show_run(Board& board, const std::string& path) {
  if (path.empty() || path.size() >= Board::kLongestPath) return;
  std::memcpy(board.run, path.c_str(), path.size() + 1);
  board.resumes = true;
  board.has_run.store(true, std::memory_order_release);
}

// About once a second, and at the end.
void look_at(Board& board, TrackedRun& tracked) {
  if (board.has_run.load(std::memory_order_acquire))
    tracked.begin_if_written({board.run});
  tracked.beat(board.heartbeats.tracking);
  show_tracker(board, tracked.awaited());
  const Backlog backlog = tracked.backlog();
  board.mlflow_behind = backlog.mlflow;
  board.tensorboard_behind = backlog.tensorboard;
}

} // namespace

bool wants_parent(const Environment& environment) {
  if (variable(environment, kTrainerVariable)) return false;
  if (variable(environment, "TEMPER_SUPERVISE").value_or("1") == "0")
    return false;
  return !supervise::is_traced();
}

std::optional<supervise::SupervisedEnd> run_trainer(
    const TrainerProgram& program,
    TrackedRun& tracked) {
  const auto page = supervise::SharedPage::make();
  if (!page) {
    log::warn(
        "[supervise] the system gives no shared memory: training without a "
        "supervisor.");
    return std::nullopt;
  }
  Board* board = nullptr;
  std::string goes_on_with; // after a death
  supervise::TrainerStart assignment;
  assignment.program = program.path;
  assignment.name = program.name;
  assignment.arguments = program.arguments;
  assignment.resume = [&](const std::filesystem::path& run) {
    goes_on_with = run.string();
    return program.resume ? program.resume(run) : program.arguments;
  };
  assignment.extra = program.variables;
  assignment.extra[kTrainerVariable] = cat(page->descriptor());
  assignment.listens_late = program.listens_late;
  assignment.begin = [&] {
    board = new (page->data()) Board;
    show_run(*board, goes_on_with);
  };
  assignment.ask = [&] { return read(*board); };
  assignment.noticed = [&](int signal) {
    return board->signals[signal].load();
  };
  assignment.say = program.say ? program.say : log::warn;
  assignment.look = [&] { look_at(*board, tracked); };
  const auto ending = supervise::supervise(assignment);
  look_at(*board, tracked); // a short run was over before
  return ending;
}

track::Status status_of(const supervise::SupervisedEnd& ending) {
  return ending.code == kFailed ? track::Status::failed : track::Status::killed;
}

double patience_of(const supervise::SupervisedEnd& ending) {
  return ending.code == kDone || ending.code == kFailed
      ? TrackedRun::kPatience_s
      : TrackedRun::kShortPatience_s;
}

} // namespace temper::session
