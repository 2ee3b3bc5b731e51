#include "temper/cli/supervise.h"

#include <signal.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "temper/base/text.h"
#include "temper/cli/interrupt.h"
#include "temper/cli/start.h"
#include "temper/machine/startup.h"
#include "temper/supervise/death.h"
#include "temper/supervise/shared_page.h"
#include "temper/supervise/supervisor.h"
#include "temper/supervise/system.h"

namespace temper::cli {
namespace {

static_assert(static_cast<int>(kStartAgain) == supervise::kStartAgain);

// Says "you are the trainer", and which descriptor the page has.
constexpr const char* kTrainer = "TEMPER_TRAINER";
constexpr int kSignalNumbers = 65;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kLongestName = 512;

// What is in the page. The trainer writes, the supervisor reads; the other way
// round it is with what concerns trackers, whom the supervisor tells.
struct Board {
  train::Heartbeats heartbeats;
  std::atomic<bool> has_tracker{false}; // `tracker` is complete
  char tracker[kLongestName] = {}; // that does not come back
  std::atomic<std::int64_t> saved{-1}; // updates of the last checkpoint
  std::atomic<int> signals[kSignalNumbers] = {};
  std::atomic<std::int64_t> mlflow_behind{0};
  std::atomic<std::int64_t> tensorboard_behind{0};
  std::atomic<bool> has_run{false}; // `run` is complete
  char run[kLongestPath] = {};
};
static_assert(sizeof(Board) <= supervise::SharedPage::kBytes);

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
  const std::string shown = where.substr(0, kLongestName - 1);
  std::memcpy(board.tracker, shown.c_str(), shown.size() + 1);
  board.has_tracker.store(true, std::memory_order_release);
}

} // namespace

std::vector<std::string> resume_arguments(
    const Invocation& invocation,
    const Changes& changes,
    const std::filesystem::path& run) {
  std::vector<std::string> arguments{"train", "--resume", run.string()};
  for (const auto& [key, value, source] : changes) {
    arguments.emplace_back("--set");
    arguments.push_back(cat(key, "=", value));
  }
  if (invocation.verbose) arguments.emplace_back("--verbose");
  if (invocation.quiet) arguments.emplace_back("--quiet");
  if (invocation.mps_fallback) arguments.emplace_back("--mps-fallback");
  return arguments;
}

bool wants_supervisor(const Environment& environment) {
  if (variable(environment, kTrainer)) return false;
  if (variable(environment, "TEMPER_SUPERVISE").value_or("1") == "0")
    return false;
  return !supervise::is_traced();
}

std::optional<int> run_supervised(
    const Invocation& invocation,
    Console& console,
    const Changes& changes) {
  const auto page = supervise::SharedPage::make();
  if (!page) {
    log::warn(
        "[supervise] the system gives no shared memory: training without a "
        "supervisor.");
    return std::nullopt;
  }
  Board* board = nullptr;
  supervise::Assignment assignment;
  const supervise::HeldProgram trainer(full_program());
  assignment.program = [&] { return trainer.path(); };
  assignment.arguments = invocation.arguments;
  assignment.resume = [&](const std::filesystem::path& run) {
    return resume_arguments(invocation, changes, run);
  };
  assignment.extra = {{kTrainer, cat(page->descriptor())}};
  const auto loading = machine::loading_variables(
      {invocation.mps_fallback, true}, current_environment());
  for (const auto& variable : loading.variables)
    assignment.extra.insert(variable);
  assignment.listens_late = true;
  assignment.begin = [&] { board = new (page->data()) Board; };
  assignment.ask = [&] { return read(*board); };
  assignment.noticed = [&](int signal) {
    return board->signals[signal].load();
  };
  assignment.say = [&](const std::string& line) {
    console.progress(""); // what the trainer left on the line goes
    log::warn(line);
  };
  // Here, where no death of the trainer can end it.
  TrackedRun tracked;
  assignment.look = [&] {
    if (board->has_run.load(std::memory_order_acquire))
      tracked.begin_if_written({board->run});
    tracked.beat(board->heartbeats.tracking);
    show_tracker(*board, tracked.awaited());
    const Backlog backlog = tracked.backlog();
    board->mlflow_behind = backlog.mlflow;
    board->tensorboard_behind = backlog.tensorboard;
  };
  console.share_line(); // with the trainer, which shows its progress there
  InterruptWatch interrupts; // for what comes after the trainer's end
  const auto ending = supervise::supervise(assignment);
  if (ending.signal == 0) interrupts.leave_at_once(ending.code, nullptr);
  assignment.look(); // a short run was over before
  tracked.finish(
      console,
      ending.code == kFailed ? track::Status::failed : track::Status::killed,
      ending.code == kDone || ending.code == kFailed
          ? TrackedRun::kPatience_s
          : TrackedRun::kShortPatience_s);
  interrupts.over();
  if (ending.signal == 0) return ending.code;
  // As the trainer ended, so that a shell sees what it would have seen.
  ::signal(ending.signal, SIG_DFL);
  ::raise(ending.signal);
  return kInterrupted;
}

struct TrainerSide::Page {
  supervise::SharedPage shared;

  Board* board() const {
    return std::launder(static_cast<Board*>(shared.data()));
  }
};

TrainerSide::TrainerSide(const Environment& environment) {
  const auto text = variable(environment, kTrainer);
  if (!text) return;
  // Programs that this one starts are no trainers.
  ::unsetenv(kTrainer);
  auto shared = supervise::SharedPage::open(
      static_cast<int>(parse_int(*text).value_or(-1)));
  if (shared) page_ = std::make_unique<Page>(Page{std::move(*shared)});
}

TrainerSide::~TrainerSide() {
  count_signals_in(nullptr);
}

train::Heartbeats* TrainerSide::heartbeats() const {
  return page_ ? &page_->board()->heartbeats : nullptr;
}

std::atomic<int>* TrainerSide::signals() const {
  return page_ ? page_->board()->signals : nullptr;
}

std::string TrainerSide::awaited_tracker() const {
  if (!page_) return "";
  const Board& board = *page_->board();
  return board.has_tracker.load(std::memory_order_acquire) ? board.tracker : "";
}

void TrainerSide::opened(const journal::RunDirectory& directory) {
  if (!page_) return;
  const std::string path = std::filesystem::absolute(directory.path).string();
  if (path.size() >= kLongestPath) return;
  Board& board = *page_->board();
  std::memcpy(board.run, path.c_str(), path.size() + 1);
  board.has_run.store(true, std::memory_order_release);
}

void TrainerSide::see(const journal::Event& event) {
  if (!page_ || (event.kind != "checkpoint" && event.kind != "resume")) return;
  // A run without a checkpoint resumes from 0.
  if (const auto update = event.count("update"); update.value_or(0) > 0)
    page_->board()->saved = *update;
}

Backlog TrainerSide::backlog() const {
  if (!page_) return {};
  const Board& board = *page_->board();
  return {board.mlflow_behind, board.tensorboard_behind};
}

} // namespace temper::cli
