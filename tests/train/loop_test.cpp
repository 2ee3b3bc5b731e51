#include "temper/train/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "temper/base/error.h"
#include "temper/journal/journal.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Learns nothing, but remembers everything it was asked to do in one number.
class FakeEngine final : public Engine {
 public:
  EngineFacts facts() const override {
    return {};
  }
  bool step(const data::Batch& batch, const StepOrder& order) override {
    if (order.update == fails_at) throw NotFinite("the loss became nan.");
    if (order.update == overflows_at && overflows > 0) {
      --overflows;
      return false;
    }
    state = state * 1.000001 + order.lr * static_cast<double>(batch.number + 1);
    rates.push_back(order.lr);
    micro_batch = order.micro_batch;
    sums.loss += state;
    sums.units += batch.size;
    sums.samples += batch.size;
    return true;
  }
  StepReport report() override {
    return {state, 1};
  }
  MetricSums take_training_sums() override {
    return std::exchange(sums, {});
  }
  void evaluate(const data::Batch& batch) override {
    evaluated += batch.size;
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
    auto tensor = graph::make_tensor(graph::DType::kFloat64, {1});
    std::memcpy(tensor.bytes, &state, sizeof state);
    return {{{"model.state", tensor.data}}};
  }
  void restore(const EngineState& from) override {
    std::memcpy(
        &state, from.tensors.at("model.state").bytes.get(), sizeof state);
  }
  graph::Weights weights() override {
    return {};
  }

  double state = 1;
  MetricSums sums;
  std::vector<double> rates;
  std::vector<std::int64_t> accuracies; // of 10, by epoch
  std::int64_t evaluated = 0;
  std::size_t epochs = 0;
  std::int64_t fails_at = -1;
  std::int64_t overflows_at = -1;
  int overflows = 0; // so often
  int micro_batch = 0;
};

// Ten samples in batches of four.
class FakeBatches final : public Batches {
 public:
  void start(std::uint32_t epoch) override {
    epoch_ = epoch;
    next_ = 0;
  }
  const data::Batch* next() override {
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

 private:
  std::uint32_t epoch_ = 0;
  std::int64_t next_ = 0;
  data::Batch batch_;
};

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    config_.train.epochs = 4;
    config_.train.log_every = 1;
  }

  Outcome run(
      const checkpoint::Snapshot* resumed = nullptr,
      std::function<bool()> stop = {}) {
    journal::Journal journal(folder_ / "journal.jsonl");
    if (resumed != nullptr) journal.truncate(resumed->journal_offset);
    checkpoint::Store store(folder_ / "checkpoints", 2);
    FakeBatches val;
    return run_loop(
        {config_,
         engine_,
         batches_,
         validate_ ? &val : nullptr,
         journal,
         store,
         "test",
         {},
         {},
         1,
         std::move(stop)},
        resumed);
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
};

// The batch is spent, the update is not counted, and the schedule waits.
TEST_F(LoopTest, an_update_that_overflowed_is_left_out_and_told) {
  run();
  const auto rates = engine_.rates;
  engine_ = {};
  engine_.overflows_at = 2;
  engine_.overflows = 2;
  std::filesystem::remove_all(folder_ / "checkpoints");
  std::filesystem::remove(folder_ / "journal.jsonl");
  const Outcome outcome = run();
  const auto told = events("incident");
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].text("what"), "overflow");
  EXPECT_EQ(told[0].count("update"), 2);
  EXPECT_EQ(outcome.updates, static_cast<std::int64_t>(rates.size()) - 2);
  for (std::size_t i = 0; i < engine_.rates.size(); ++i)
    EXPECT_EQ(engine_.rates[i], rates[i]) << i;
}

TEST_F(LoopTest, every_epoch_is_trained_validated_journaled_and_kept) {
  engine_.accuracies = {5, 8, 7, 6};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ending, Ending::kDone);
  EXPECT_EQ(outcome.updates, 12);
  EXPECT_EQ(outcome.best_metric, "val_accuracy");
  EXPECT_EQ(outcome.best, 0.8);
  EXPECT_EQ(outcome.best_epoch, 1U);
  EXPECT_EQ(events("step").size(), 12U);
  ASSERT_EQ(events("epoch").size(), 4U);
  EXPECT_EQ(events("epoch")[1].number("val_accuracy"), 0.8);
  EXPECT_EQ(events("epoch")[1].flag("best"), true);
  EXPECT_EQ(events("epoch")[2].flag("best"), false);
  const checkpoint::Store store(folder_ / "checkpoints", 2);
  EXPECT_THAT(store.list(), ElementsAre(6, 9, 12));
  EXPECT_EQ(store.load_best()->update, 6);
}

TEST_F(LoopTest, the_rate_follows_the_schedule) {
  config_.schedule.name = "linear";
  config_.optimizer.lr = 1.2;
  run();
  ASSERT_EQ(engine_.rates.size(), 12U);
  EXPECT_DOUBLE_EQ(engine_.rates[0], 1.2);
  EXPECT_NEAR(engine_.rates[11], 0.1, 1e-12);
}

// Wherever it is stopped: the same state, journal and rates as undisturbed.
TEST_F(LoopTest, a_run_that_was_stopped_anywhere_ends_as_if_it_was_not) {
  run();
  const double undisturbed = engine_.state;
  std::vector<double> losses;
  for (const auto& event : events("step"))
    losses.push_back(*event.number("loss"));
  for (int stop_after = 1; stop_after < 12; ++stop_after) {
    std::filesystem::remove_all(folder_ / "checkpoints");
    std::filesystem::remove(folder_ / "journal.jsonl");
    engine_ = {};
    int steps = 0;
    const Outcome stopped = run(nullptr, [&] { return ++steps == stop_after; });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    engine_ = {};
    batches_ = {};
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints", 2).load_latest();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->update, stop_after);
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
    EXPECT_EQ(engine_.state, undisturbed) << "stopped after " << stop_after;
    std::vector<double> again;
    for (const auto& event : events("step"))
      again.push_back(*event.number("loss"));
    EXPECT_EQ(again, losses) << "stopped after " << stop_after;
    EXPECT_EQ(events("epoch").size(), 4U);
    EXPECT_EQ(events("epoch")[3].count("samples"), 10);
  }
}

TEST_F(LoopTest, max_steps_ends_it_and_the_schedule_knows) {
  config_.train.max_steps = 5;
  config_.schedule.name = "linear";
  config_.optimizer.lr = 1;
  EXPECT_EQ(run().updates, 5);
  EXPECT_NEAR(engine_.rates.back(), 0.2, 1e-12);
}

TEST_F(LoopTest, it_stops_early_when_no_epoch_is_better) {
  config_.train.epochs = 20;
  config_.train.early_stop = 3;
  engine_.accuracies = {4, 6, 5, 5, 5, 9};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.ending, Ending::kEarly);
  EXPECT_EQ(outcome.updates, 15);
  EXPECT_EQ(outcome.best_epoch, 1U);
}

TEST_F(LoopTest, without_validation_the_training_loss_is_watched) {
  validate_ = false;
  EXPECT_EQ(run().best_metric, "train_loss");
  config_.checkpoint.metric = "val_loss";
  EXPECT_THROW(run(), Error);
}

TEST_F(LoopTest, what_is_not_finite_is_an_incident_with_its_samples) {
  engine_.fails_at = 4;
  EXPECT_THROW(run(), NotFinite);
  ASSERT_EQ(events("incident").size(), 1U);
  EXPECT_EQ(events("incident")[0].count("update"), 4);
  EXPECT_THAT(*events("incident")[0].text("why"), HasSubstr("nan"));
}

TEST_F(LoopTest, a_generator_without_an_end_needs_a_length_for_its_schedule) {
  batches_.known = false;
  EXPECT_THROW(run(), Error);
  config_.schedule.name = "constant";
  EXPECT_EQ(run().updates, 12);
}

TEST_F(LoopTest, accumulated_batches_are_computed_in_their_parts) {
  config_.train.accumulate = 4;
  config_.train.batch = 16;
  run();
  EXPECT_EQ(engine_.micro_batch, 16);
}

} // namespace
} // namespace temper::train
