#include "temper/train/loop/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <new>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

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
         .planned = planned_,
         .forget_plan = [this] { ++plans_forgotten_; },
         .stop = std::move(stop)},
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
  std::optional<plan::Expected> planned_;
  int plans_forgotten_ = 0;
  log::Sink before_;
};

// The engine's steps take microseconds: a plan of hours cannot be right.
TEST_F(LoopTest, a_plan_that_the_first_steps_belie_is_forgotten_and_told) {
  config_.train.epochs = 12; // of three steps
  run();
  EXPECT_EQ(plans_forgotten_, 0);
  EXPECT_TRUE(events("incident").empty());
  forget();
  planned_ = plan::Expected{3600, 0.04, 1};
  run();
  EXPECT_EQ(plans_forgotten_, 1);
  const auto told = events("incident");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].text("what"), "not as planned");
  EXPECT_EQ(told[0].number("before_s"), 3600);
  EXPECT_EQ(told[0].flag("forgotten"), true);
  EXPECT_EQ(told[0].count("update"), 29);
}

// One capture is the guard's, before the first step.
TEST_F(LoopTest, a_copy_that_has_no_memory_is_a_checkpoint_that_failed) {
  run();
  const double undisturbed = engine_.state;
  forget();
  config_.checkpoint.keep_last = 9;
  engine_.no_memory_from = 3; // after the second epoch, and once more
  engine_.no_memory_until = 5;
  EXPECT_EQ(run().ending, Ending::kDone);
  EXPECT_EQ(engine_.state, undisturbed);
  const auto failed = events("checkpoint_failed");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].count("update"), 6);
  EXPECT_THAT(failed[0].text("why").value(), HasSubstr("no memory"));
  EXPECT_THAT(
      checkpoint::Store(folder_ / "checkpoints").list(),
      AllOf(Contains(3), ::testing::Not(Contains(6)), Contains(12)));
}

TEST_F(LoopTest, a_copy_finds_memory_once_others_are_written) {
  engine_.no_memory_from = 3;
  engine_.no_memory_until = 4;
  config_.train.epochs = 2;
  run();
  EXPECT_TRUE(events("checkpoint_failed").empty());
  EXPECT_THAT(checkpoint::Store(folder_ / "checkpoints").list(), Contains(6));
}

TEST_F(LoopTest, a_stop_without_memory_for_a_copy_keeps_the_last_one) {
  engine_.no_memory_from = 3;
  const auto after_four = [&] { return engine_.rates.size() == 4; };
  EXPECT_EQ(run(nullptr, after_four).ending, Ending::kStopped);
  EXPECT_EQ(events("checkpoint_failed").size(), 1U);
  forget();
  engine_.no_memory_from = 2;
  EXPECT_THROW(run(nullptr, after_four), Error); // there is none
}

TEST_F(LoopTest, a_run_without_memory_for_a_good_state_goes_on_with_the_last) {
  config_.guard.rollback_every = 3;
  config_.checkpoint.every_seconds = 0;
  // The guard's first, then its second and the one of the first epoch.
  engine_.no_memory_from = 2;
  engine_.no_memory_until = 3;
  EXPECT_EQ(run().ending, Ending::kDone);
  forget();
  engine_.no_memory_from = 1;
  EXPECT_THROW(run(), Error);
}

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
  const checkpoint::Store store(folder_ / "checkpoints");
  // One that waited may have been left out for a newer one.
  EXPECT_THAT(store.list(), AllOf(Contains(6), Contains(12)));
  EXPECT_EQ(store.load_best()->update, 6);
}

// Each checkpoint is preceded by the gradients of the update it was made
// after, and nobody who does not want them pays for them.
TEST_F(LoopTest, gradients_are_journaled_at_checkpoints_when_asked_for) {
  run();
  EXPECT_EQ(engine_.gradients_asked, 0);
  EXPECT_TRUE(events("gradients").empty());
  forget();
  config_.track.histograms = true;
  config_.checkpoint.every_steps = 3;
  run();
  std::vector<std::int64_t> updates;
  for (const auto& event : events("gradients")) {
    updates.push_back(event.count("update").value_or(-1));
    const auto told = nlohmann::json::parse(event.json("histograms").value());
    EXPECT_EQ(told.at("w").at("low"), updates.back());
  }
  EXPECT_THAT(updates, ::testing::ElementsAre(3, 6, 9, 12));
  // A slow disk passes over some of them.
  for (const auto& event : events("checkpoint"))
    EXPECT_THAT(updates, Contains(event.count("update").value_or(-1)));
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
    forget();
    const Outcome stopped = run(nullptr, [&] {
      return engine_.rates.size() == static_cast<std::size_t>(stop_after);
    });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    finish_from(stop_after);
    EXPECT_EQ(engine_.state, undisturbed) << "stopped after " << stop_after;
    std::vector<double> again;
    for (const auto& event : events("step"))
      again.push_back(*event.number("loss"));
    EXPECT_EQ(again, losses) << "stopped after " << stop_after;
    EXPECT_EQ(events("epoch").size(), 4U);
    EXPECT_EQ(events("epoch")[3].count("samples"), 10);
  }
}

// All that an epoch's line says but the time it took.
std::vector<std::string> told_of(const std::vector<journal::Event>& epochs) {
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

// Also after the last step, when its epoch is not validated yet.
TEST_F(LoopTest, stopped_after_its_last_step_it_still_closes_the_epoch) {
  for (const int max_steps : {3, 5, 6}) {
    forget();
    config_.train.max_steps = max_steps;
    run();
    const double undisturbed = engine_.state;
    const auto epochs = told_of(events("epoch"));
    forget();
    const Outcome stopped = run(nullptr, [&] {
      return engine_.rates.size() == static_cast<std::size_t>(max_steps);
    });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    finish_from(max_steps);
    EXPECT_TRUE(engine_.rates.empty()) << "it was trained further";
    EXPECT_EQ(engine_.state, undisturbed);
    EXPECT_EQ(told_of(events("epoch")), epochs);
  }
}

// Between two steps there is a state to save, however long the wait.
TEST_F(LoopTest, stopped_while_it_waits_for_data_it_goes_on_from_there) {
  run();
  const double undisturbed = engine_.state;
  for (const int stuck_at : {0, 1, 2}) {
    forget();
    batches_.stuck_at = stuck_at;
    int asked = 0;
    const Outcome stopped = run(nullptr, [&] { return ++asked > 5; });
    EXPECT_EQ(stopped.ending, Ending::kStopped);
    EXPECT_EQ(stopped.updates, stuck_at);
    finish_from(stuck_at);
    EXPECT_EQ(engine_.state, undisturbed) << "stuck at " << stuck_at;
    EXPECT_EQ(events("step").size(), 12U);
  }
}

TEST_F(LoopTest, how_often_it_is_saved_changes_nothing) {
  config_.train.log_every = 2;
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  for (const std::int64_t every : {1, 2, 3, 5}) {
    forget();
    config_.checkpoint.every_steps = every;
    run();
    EXPECT_EQ(engine_.state, state) << every;
    EXPECT_EQ(told_of(events("epoch")), epochs) << every;
    EXPECT_GE(events("checkpoint").size(), 2U);
  }
}

// An update left out by an overflow, a rate that dropped on a plateau, sums
// that were only half reported, and a journal that went on behind the
// checkpoint, as kill -9 leaves it.
TEST_F(LoopTest, from_every_checkpoint_it_ends_as_if_nothing_had_happened) {
  config_.schedule.name = "plateau";
  config_.schedule.step = 1;
  config_.train.log_every = 2;
  const auto begin = [&](std::size_t epoch, bool overflow) {
    engine_ = {};
    batches_ = {};
    engine_.accuracies = {5, 4, 6, 6};
    engine_.epochs = epoch;
    engine_.overflows_at = 4;
    engine_.overflows = overflow ? 1 : 0; // the scale remembers it
  };
  begin(0, true);
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  const auto rates = engine_.rates;
  EXPECT_LT(rates.back(), rates.front());
  for (std::size_t updates = 1; updates < 11; ++updates) {
    SCOPED_TRACE(updates);
    forget();
    begin(0, true);
    run(nullptr, [&] { return engine_.rates.size() == updates; });
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints").load_latest();
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->update, static_cast<std::int64_t>(updates));
    journal::Journal(folder_ / "journal.jsonl").append({"epoch", 0, {}});
    const bool before = engine_.overflows > 0;
    begin(snapshot->epoch, before);
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
    EXPECT_EQ(engine_.state, state);
    EXPECT_EQ(told_of(events("epoch")), epochs);
    EXPECT_TRUE(std::equal(
        engine_.rates.rbegin(), engine_.rates.rend(), rates.rbegin()));
  }
}

TEST_F(LoopTest, stopped_while_validating_it_validates_again) {
  engine_.accuracies = {5, 8, 7, 6};
  run();
  const double state = engine_.state;
  const auto epochs = told_of(events("epoch"));
  forget();
  engine_.accuracies = {0, 5, 8, 7, 6}; // the first is what was broken off
  const Outcome stopped =
      run(nullptr, [&] { return engine_.evaluations == 2; });
  EXPECT_EQ(stopped.ending, Ending::kStopped);
  EXPECT_EQ(events("epoch").size(), 0U);
  batches_ = {};
  engine_.state = 0;
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->update, 3);
  EXPECT_EQ(run(&*snapshot).best, 0.8);
  EXPECT_EQ(engine_.state, state);
  EXPECT_EQ(told_of(events("epoch")), epochs);
}

// What is left of the epoch after a resume takes no time at all: alone it would
// give a speed of millions.
TEST_F(LoopTest, the_speed_of_a_resumed_epoch_is_that_of_all_its_steps) {
  config_.train.epochs = 1;
  run(nullptr, [&] { return engine_.evaluations == 2; });
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  auto loop = nlohmann::json::parse(snapshot->loop);
  EXPECT_GT(loop.at("spent_s").at("epoch").get<double>(), 0);
  loop["seconds"] = 70;
  loop["spent_s"] = {
      {"epoch", 60}, {"epoch_waiting", 6}, {"waiting", 7}, {"evaluating", 8}};
  checkpoint::Snapshot before = *snapshot;
  before.loop = loop.dump();
  batches_ = {};
  const Outcome outcome = run(&before);
  ASSERT_EQ(events("epoch").size(), 1U);
  const journal::Event epoch = events("epoch")[0];
  const double seconds = epoch.number("seconds").value_or(0);
  EXPECT_GE(seconds, 60);
  EXPECT_GE(epoch.number("wait_s").value_or(0), 6);
  EXPECT_EQ(
      epoch.number("samples_per_s"),
      static_cast<double>(epoch.count("samples").value_or(0)) / seconds);
  EXPECT_GE(outcome.waiting_s, 7);
  EXPECT_GE(outcome.evaluating_s, 8);
}

// Killed after its last checkpoint: there is nothing left to train.
TEST_F(LoopTest, a_run_that_stopped_early_does_not_go_on_by_itself) {
  config_.train.epochs = 20;
  config_.train.early_stop = 2;
  engine_.accuracies = {4, 6, 5, 5, 9};
  run();
  const double state = engine_.state;
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  const Outcome again = run(&*snapshot);
  EXPECT_EQ(again.ending, Ending::kEarly);
  EXPECT_EQ(again.best_metric, "val_accuracy");
  EXPECT_EQ(engine_.state, state);
}

TEST_F(LoopTest, a_disk_that_takes_nothing_ends_the_run_only_at_its_end) {
  folder_.write("checkpoints", "in the way");
  config_.checkpoint.every_steps = 1;
  EXPECT_THROW(run(), Error);
  EXPECT_EQ(events("epoch").size(), 4U);
  EXPECT_GE(events("checkpoint_failed").size(), 2U);
  // As long as there is room at the end, all is well.
  forget();
  folder_.write("checkpoints", "in the way");
  EXPECT_EQ(
      run(nullptr,
          [&] {
            if (engine_.rates.size() == 11)
              std::filesystem::remove(folder_ / "checkpoints");
            return false;
          })
          .ending,
      Ending::kDone);
  EXPECT_EQ(
      checkpoint::Store(folder_ / "checkpoints").load_latest()->update, 12);
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

TEST_F(LoopTest, what_is_not_finite_is_an_incident_and_stops_if_asked_to) {
  config_.guard.nan = "stop";
  engine_.fails_at = 4;
  EXPECT_THROW(run(), NotFinite);
  ASSERT_EQ(events("incident").size(), 1U);
  EXPECT_EQ(events("incident")[0].count("update"), 4);
  EXPECT_EQ(events("incident")[0].text("then"), "stop");
  EXPECT_THAT(*events("incident")[0].text("why"), HasSubstr("nan"));
}

// The batch is spent; the update, and with it the rate, waits.
TEST_F(LoopTest, a_batch_that_is_not_finite_is_passed_over) {
  engine_.fails_at = 4;
  engine_.failures = 1;
  const Outcome outcome = run();
  EXPECT_EQ(outcome.updates, 11);
  EXPECT_EQ(engine_.rates.size(), 11U);
  ASSERT_EQ(events("incident").size(), 1U);
  EXPECT_EQ(events("incident")[0].text("then"), "skip");
  EXPECT_EQ(events("epoch")[1].count("samples"), 6) << "4 of 10 were not used";
}

// However late a device tells: the same batches trained at the same rates.
TEST_F(LoopTest, a_late_device_ends_where_one_that_tells_at_once_does) {
  for (const int log_every : {1, 4, 100})
    for (int fails_at = 0; fails_at < 11; ++fails_at) {
      double ends[2];
      std::int64_t updates[2];
      std::int64_t samples[2];
      for (const bool late : {false, true}) {
        std::filesystem::remove_all(folder_ / "checkpoints");
        std::filesystem::remove(folder_ / "journal.jsonl");
        config_.train.log_every = log_every;
        engine_ = {};
        batches_ = {};
        engine_.late = late;
        engine_.fails_at = fails_at;
        engine_.failures = 1;
        const Outcome outcome = run();
        ends[late] = engine_.state;
        updates[late] = outcome.updates;
        EXPECT_EQ(events("incident").size(), 1U);
        EXPECT_EQ(events("incident")[0].count("update"), fails_at);
        samples[late] = outcome.train.samples;
      }
      EXPECT_EQ(ends[0], ends[1]) << fails_at << " of " << log_every;
      EXPECT_EQ(updates[0], updates[1]) << fails_at;
      EXPECT_EQ(samples[0], samples[1]) << fails_at;
    }
}

TEST_F(LoopTest, a_run_goes_back_to_a_good_state_and_on_with_new_data) {
  config_.guard.rollback_every = 4;
  for (const bool late : {false, true}) {
    std::filesystem::remove_all(folder_ / "checkpoints");
    std::filesystem::remove(folder_ / "journal.jsonl");
    engine_ = {};
    batches_ = {};
    engine_.late = late;
    engine_.fails_at = 6;
    engine_.failures = 3; // the patience of skip
    const Outcome outcome = run();
    EXPECT_EQ(events("incident").size(), 3U);
    ASSERT_EQ(events("rollback").size(), 1U);
    EXPECT_EQ(events("rollback")[0].count("from"), 6);
    EXPECT_EQ(events("rollback")[0].count("to"), 4);
    EXPECT_EQ(events("rollback")[0].number("lr_factor"), 1);
    // 12 batches: 6 committed, 3 spent, 3 committed after the state of 4.
    EXPECT_EQ(outcome.updates, 7);
  }
}

// What the guard counts goes through the checkpoint: two batches were passed
// over before the stop, and the third rolls back.
TEST_F(LoopTest, a_resumed_run_is_as_patient_as_the_undisturbed_one) {
  config_.guard.rollback_every = 100;
  engine_.fails_at = 4;
  engine_.failures = 3;
  validate_ = false; // after which it is asked, too
  int steps = 0;
  run(nullptr, [&] { return ++steps == 6; });
  EXPECT_EQ(events("incident").size(), 2U);
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->update, 4);
  run(&*snapshot);
  EXPECT_EQ(events("incident").size(), 3U);
  EXPECT_EQ(events("incident")[2].text("then"), "rollback");
}

// Wherever it was stopped, it goes back to the same states: for who asks for
// rollbacks they are in the checkpoint.
TEST_F(LoopTest, a_resumed_run_goes_back_as_far_as_the_undisturbed_one) {
  config_.guard.nan = "rollback";
  config_.guard.rollback_every = 3;
  const auto fail = [&](int failures) {
    engine_ = {};
    engine_.fails_at = 8;
    engine_.failures = failures;
  };
  fail(2);
  run();
  const double undisturbed = engine_.state;
  ASSERT_EQ(events("rollback").size(), 2U);
  EXPECT_EQ(events("rollback")[0].count("to"), 6);
  EXPECT_EQ(events("rollback")[1].count("to"), 3);
  for (std::size_t steps = 1; steps <= 10; ++steps) {
    forget();
    fail(2);
    run(nullptr, [&] { return engine_.rates.size() == steps; });
    const auto snapshot =
        checkpoint::Store(folder_ / "checkpoints").load_latest();
    ASSERT_TRUE(snapshot);
    fail(engine_.failures);
    batches_ = {};
    EXPECT_EQ(run(&*snapshot).ending, Ending::kDone);
    EXPECT_EQ(engine_.state, undisturbed) << "stopped after " << steps;
  }
}

TEST_F(LoopTest, a_checkpoint_has_no_good_states_that_nobody_asked_for) {
  run();
  const auto snapshot =
      checkpoint::Store(folder_ / "checkpoints").load_latest();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->tensors.size(), 1U);
}

TEST_F(LoopTest, a_run_that_fails_again_and_again_stops_and_says_so) {
  config_.train.epochs = 100;
  config_.guard.rollback_every = 2;
  engine_.fails_at = 5;
  std::string told;
  try {
    run();
  } catch (const NotFinite& error) {
    told = error.what();
  }
  EXPECT_THAT(told, HasSubstr("went back 2 times"));
  ASSERT_EQ(events("rollback").size(), 2U);
  EXPECT_EQ(events("rollback")[0].count("to"), 4);
  EXPECT_EQ(events("rollback")[1].count("to"), 2);
  EXPECT_EQ(events("rollback")[1].number("lr_factor"), 0.5);
  EXPECT_EQ(events("incident").back().text("then"), "stop");
  // At half the rate since.
  EXPECT_EQ(engine_.rates.back(), 0.5 * engine_.rates[4]);
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
