// The loop's signs of life: every part of its work says that it begins.
#include <gtest/gtest.h>

#include <algorithm>

#include "temper/journal/journal.h"
#include "temper/train/loop/loop.h"
#include "tests/temp_folder.h"
#include "tests/train/run/observers.h"

namespace temper::train {
namespace {

// Who is called notes what the heart said last.
struct Notes {
  Heartbeats heartbeats;
  std::vector<Phase> phases;

  void add() {
    phases.push_back(heartbeats.training.phase);
  }
  bool has(Phase phase) const {
    return std::count(phases.begin(), phases.end(), phase) > 0;
  }
};

class NotingEngine final : public Engine {
 public:
  explicit NotingEngine(Notes& notes) : notes_(notes) {}
  EngineFacts facts() const override {
    return {};
  }
  bool step(const data::HostBatch&, const StepOrder& order) override {
    EXPECT_EQ(order.heartbeat, &notes_.heartbeats.training);
    EXPECT_EQ(notes_.heartbeats.update, order.update);
    sums_.samples += 4;
    return true;
  }
  StepReport report() override {
    return {};
  }
  MetricSums take_training_sums() override {
    return std::exchange(sums_, {});
  }
  void evaluate(const data::HostBatch&) override {
    evaluating = notes_.heartbeats.training.phase;
  }
  MetricSums take_evaluation_sums() override {
    return {};
  }
  EngineState capture() override {
    saving = notes_.heartbeats.training.phase;
    return {};
  }
  void restore(const EngineState&) override {}
  graph::Weights weights() override {
    return {};
  }
  Phase evaluating = Phase::resting;
  Phase saving = Phase::resting;

 private:
  Notes& notes_;
  MetricSums sums_;
};

class NotingBatches final : public Batches {
 public:
  explicit NotingBatches(Notes& notes) : notes_(notes) {}
  void start(std::uint32_t) override {
    left_ = 3;
  }
  const data::HostBatch* next() override {
    notes_.add();
    batch_.size = 4;
    return left_-- > 0 ? &batch_ : nullptr;
  }
  std::optional<std::int64_t> batches_per_epoch() const override {
    return 3;
  }
  std::optional<std::int64_t> samples() const override {
    return 12;
  }
  std::string state() const override {
    return "";
  }
  void resume(const std::string&) override {}
  data::LoaderStats stats() const override {
    return {};
  }

 private:
  Notes& notes_;
  int left_ = 0;
  data::HostBatch batch_;
};

TEST(LoopHeartbeat, EachPartOfTheWorkSaysThatItBegins) {
  const tests::TempFolder folder;
  Notes train;
  config::Config config;
  config.train.epochs = 2;
  NotingEngine engine(train);
  NotingBatches batches(train);
  NotingBatches val(train);
  journal::Journal journal(folder / "journal.jsonl");
  checkpoint::Store store(folder / "checkpoints");
  LoopParts parts{config, engine, batches, &val, nullptr, journal, store};
  parts.heartbeats = &train.heartbeats;
  Phase telling = Phase::resting;
  tests::AtEvents observer([&](const journal::Event&) {
    telling = train.heartbeats.training.phase;
  });
  parts.observer = &observer;
  const Outcome outcome = run_loop(parts);
  EXPECT_EQ(outcome.updates, 6);
  EXPECT_EQ(train.heartbeats.update, 5);
  EXPECT_TRUE(train.has(Phase::data_wait));
  EXPECT_TRUE(train.has(Phase::validating));
  EXPECT_FALSE(train.has(Phase::resting));
  EXPECT_EQ(engine.evaluating, Phase::validating);
  EXPECT_EQ(engine.saving, Phase::checkpoint);
  EXPECT_EQ(telling, Phase::telling);
  EXPECT_GT(train.heartbeats.training.beats, 20U);
}

} // namespace
} // namespace temper::train
