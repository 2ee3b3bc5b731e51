#include "temper/session/trainer_side.h"

#include <stdlib.h>

#include <cstring>
#include <new>

#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/session/board.h"

namespace temper::session {

struct TrainerSide::Page {
  supervise::SharedPage shared;

  Board* board() const {
    return std::launder(static_cast<Board*>(shared.data()));
  }
};

TrainerSide::TrainerSide(const Environment& environment) {
  const auto text = variable(environment, kTrainerVariable);
  if (!text) return;
  // Programs that this one starts are no trainers.
  ::unsetenv(kTrainerVariable);
  auto shared = supervise::SharedPage::open(
      static_cast<int>(parse_int(*text).value_or(-1)));
  if (shared) page_ = std::make_unique<Page>(Page{std::move(*shared)});
}

TrainerSide::~TrainerSide() = default;

train::Heartbeats* TrainerSide::heartbeats() const {
  return page_ ? &page_->board()->heartbeats : nullptr;
}

std::atomic<int>* TrainerSide::signals() const {
  return page_ ? page_->board()->signals : nullptr;
}

std::optional<std::filesystem::path> TrainerSide::resumes() const {
  if (!page_ || !page_->board()->resumes) return std::nullopt;
  return page_->board()->run;
}

std::string TrainerSide::awaited_tracker() const {
  if (!page_) return "";
  const Board& board = *page_->board();
  return board.has_tracker.load(std::memory_order_acquire) ? board.tracker : "";
}

void TrainerSide::opened(const journal::RunDirectory& directory) {
  if (!page_) return;
  const std::string path = std::filesystem::absolute(directory.path).string();
  if (path.size() >= Board::kLongestPath) return;
  Board& board = *page_->board();
  std::memcpy(board.run, path.c_str(), path.size() + 1);
  board.has_run.store(true, std::memory_order_release);
}

void TrainerSide::see(const journal::Event& event) {
  if (!page_ ||
      (event.kind != journal::kinds::kCheckpoint &&
       event.kind != journal::kinds::kResume))
    return;
  // A run without a checkpoint resumes from 0.
  if (const auto update = event.count(journal::fields::kUpdate);
      update.value_or(0) > 0)
    page_->board()->saved = *update;
}

Backlog TrainerSide::backlog() const {
  if (!page_) return {};
  const Board& board = *page_->board();
  return {board.mlflow_behind, board.tensorboard_behind};
}

} // namespace temper::session
