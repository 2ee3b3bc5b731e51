// An engine and batches that only count, and a loop around them: for the tests
// of the loop and of its parts.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/train/loop/loop.h"
#include "tests/temp_folder.h"

namespace temper::train {

// Learns nothing, but remembers everything it was asked to do in one number.
class FakeEngine final : public Engine {
 public:
  EngineFacts facts() const override {
    EngineFacts facts;
    facts.reads_late = late;
    return facts;
  }
  bool step(const data::HostBatch& batch, const StepOrder& order) override {
    batches.push_back(batch.number);
    const bool bad = order.update == fails_at && failures-- > 0;
    if (late) {
      unread.push_back({order.update, bad});
      closed = closed || bad;
      if (closed) {
        if (order.report) read();
        return true;
      }
    } else if (bad) {
      throw NotFinite("the loss became nan.");
    }
    if (order.update == overflows_at && overflows > 0) {
      --overflows;
      return false;
    }
    state = state * 1.000001 + order.lr * static_cast<double>(batch.number + 1);
    rates.push_back(order.lr);
    micro_batch = order.micro_batch;
    sums.loss += 1 / state; // whose last bits depend on the order of sums
    sums.units += batch.size;
    sums.samples += batch.size;
    return true;
  }
  StepReport report() override {
    return {state, 1};
  }
  MetricSums take_training_sums() override {
    read();
    return std::exchange(sums, {});
  }
  MetricSums training_sums() const override {
    return sums;
  }
  // As a device tells it: late, and nothing since has happened.
  void read() {
    const auto steps = std::exchange(unread, {});
    closed = false;
    for (const auto& [update, bad] : steps) {
      if (!bad) continue;
      NotFinite told("the loss became nan.");
      told.update = update;
      told.samples = {7, 8};
      throw told;
    }
  }
  void evaluate(const data::HostBatch& batch) override {
    evaluated += batch.size;
    ++evaluations;
  }
  MetricSums take_evaluation_sums() override {
    MetricSums made;
    made.samples = made.predictions = evaluated;
    made.units = static_cast<double>(evaluated);
    const std::size_t epoch = epochs++;
    made.correct = epoch < accuracies.size() ? accuracies[epoch] : 0;
    evaluated = 0;
    return made;
  }
  EngineState capture() override {
    read();
    ++captures;
    if (captures >= no_memory_from && captures < no_memory_until)
      throw std::bad_alloc();
    auto tensor = graph::make_tensor(graph::DType::kFloat64, {1});
    std::memcpy(tensor.bytes, &state, sizeof state);
    return {{{"model.state", tensor.data}}, sums};
  }
  void restore(const EngineState& from) override {
    std::memcpy(
        &state, from.tensors.at("model.state").bytes.get(), sizeof state);
    sums = from.training_sums;
  }
  graph::Weights weights() override {
    return {};
  }
  graph::Weights gradients() override {
    ++gradients_asked;
    auto tensor = graph::make_tensor(graph::DType::kFloat32, {1});
    const auto number = static_cast<float>(rates.size());
    std::memcpy(tensor.bytes, &number, sizeof number);
    return {{"w", tensor.data}};
  }

  double state = 1;
  int gradients_asked = 0;
  MetricSums sums;
  std::vector<double> rates;
  std::vector<std::int64_t> accuracies; // of 10, by epoch
  std::int64_t evaluated = 0;
  int evaluations = 0;
  std::size_t epochs = 0;
  std::int64_t fails_at = -1; // update
  int failures = 1 << 30; // so often
  bool late = false;
  bool closed = false;
  std::vector<std::pair<std::int64_t, bool>> unread; // update, bad
  std::vector<std::int64_t> batches; // as they came
  std::int64_t overflows_at = -1;
  int overflows = 0; // so often
  int micro_batch = 0;
  int captures = 0;
  int no_memory_from = 1 << 30; // of these
  int no_memory_until = 1 << 30;
};

// Ten samples in batches of four.
class FakeBatches final : public Batches {
 public:
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    next_ = 0;
  }
  // Once the data is stuck it stays so.
  bool ready(double) override {
    return next_ != stuck_at;
  }
  const data::HostBatch* next() override {
    if (next_ * 4 >= 10) return nullptr;
    batch_.number = next_;
    batch_.size = next_ == 2 ? 2 : 4;
    ++next_;
    return &batch_;
  }
  std::optional<std::int64_t> batches_per_epoch() const override {
    return known ? std::optional<std::int64_t>(3) : std::nullopt;
  }
  std::optional<std::int64_t> samples() const override {
    return 10;
  }
  std::string state() const override {
    return std::to_string(next_);
  }
  void resume(const std::string& from) override {
    next_ = std::stoll(from);
  }
  data::LoaderStats stats() const override {
    return {};
  }

  bool known = true;
  std::int64_t stuck_at = -1;

 private:
  std::uint32_t epoch_ = 0;
  std::int64_t next_ = 0;
  data::HostBatch batch_;
};

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    config_.train.epochs = 4;
    config_.train.log_every = 1;
    before_ = log::set_sink([](log::Level, const std::string&) {});
  }
  ~LoopTest() override {
    log::set_sink(before_);
  }

  Outcome run(
      const checkpoint::Snapshot* resumed = nullptr,
      std::function<bool()> stop = {}) {
    journal::Journal journal(folder_ / "journal.jsonl");
    if (resumed != nullptr) journal.truncate(resumed->journal_offset);
    checkpoint::Store store(
        folder_ / "checkpoints",
        {static_cast<int>(config_.checkpoint.keep_last)});
    FakeBatches val;
    return run_loop(
        {.config = config_,
         .engine = engine_,
         .train = batches_,
         .val = validate_ ? &val : nullptr,
         .journal = journal,
         .checkpoints = store,
         .writer = "test",
         .observer = observer_,
         .planned = planned_,
         .forget_plan = [this] { ++plans_forgotten_; },
         .stop = std::move(stop),
         .oldest_loss_s = oldest_loss_s_},
        resumed);
  }
  void forget() {
    engine_ = {};
    batches_ = {};
    std::filesystem::remove_all(folder_ / "checkpoints");
    std::filesystem::remove(folder_ / "journal.jsonl");
  }
  // As a process that begins anew, from the checkpoint that a stop left.
  void finish_from(std::int64_t update) {
    engine_ = {};
    batches_ = {};
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints").load_latest();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->update, update);
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
  }
  std::vector<journal::Event> events(const std::string& kind) const {
    std::vector<journal::Event> found;
    for (auto& event : journal::read_journal(folder_ / "journal.jsonl"))
      if (event.kind == kind) found.push_back(event);
    return found;
  }

  tests::TempFolder folder_;
  config::Config config_;
  FakeEngine engine_;
  FakeBatches batches_;
  bool validate_ = true;
  RunObserver* observer_ = nullptr;
  double oldest_loss_s_ = 1;
  std::optional<plan::Expected> planned_;
  int plans_forgotten_ = 0;
  log::Sink before_;
};

// All that an epoch's line says but the time it took.
inline std::vector<std::string> told_of(
    const std::vector<journal::Event>& epochs) {
  std::vector<std::string> told;
  for (journal::Event event : epochs) {
    event.time_s = 1;
    std::erase_if(event.fields, [](const auto& field) {
      return contains(field.first, "second") || contains(field.first, "_s") ||
          contains(field.first, "memory");
    });
    told.push_back(journal::to_line(event));
  }
  return told;
}

} // namespace temper::train
