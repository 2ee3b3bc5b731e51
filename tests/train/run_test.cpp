// A whole run, with an engine that needs no torch.
#include "temper/train/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/base/atomic_file.h"
#include "temper/base/log.h"
#include "temper/machine/probe.h"
#include "temper/train/roll_forward.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

class CountingEngine final : public Engine {
 public:
  explicit CountingEngine(std::int64_t breaks_at) : breaks_at_(breaks_at) {}

  EngineFacts facts() const override {
    EngineFacts facts;
    facts.model = "counting";
    facts.device = "cpu";
    return facts;
  }
  bool step(const data::Batch& batch, const StepOrder& order) override {
    if (order.update == breaks_at_)
      throw HalfDone("[train] an update failed half way.", "Resume the run.");
    ++steps_;
    sums_.samples += batch.size;
    return true;
  }
  StepReport report() override {
    return {};
  }
  MetricSums take_training_sums() override {
    return std::exchange(sums_, {});
  }
  void evaluate(const data::Batch&) override {}
  MetricSums take_evaluation_sums() override {
    return {};
  }
  EngineState capture() override {
    auto tensor = graph::make_tensor(graph::DType::kInt64, {1});
    std::memcpy(tensor.bytes, &steps_, sizeof steps_);
    return {{{"model.steps", tensor.data}}, sums_};
  }
  void restore(const EngineState& from) override {
    std::memcpy(
        &steps_, from.tensors.at("model.steps").bytes.get(), sizeof steps_);
    sums_ = from.training_sums;
  }
  graph::Weights weights() override {
    return {};
  }

 private:
  std::int64_t breaks_at_;
  std::int64_t steps_ = 0;
  MetricSums sums_;
};

class RunTest : public testing::Test {
 protected:
  RunTest() {
    before_ = log::set_sink(
        [this](log::Level, const std::string& line) { said_ += line + "\n"; });
    request_.config.data.source = "synthetic:rows=64,features=4,classes=2";
    request_.config.run.dir = folder_.text("runs");
    request_.config.run.name = "x";
    request_.config.train.batch = 8;
    request_.config.train.epochs = 2;
    request_.config.plan.seconds = 0;
    request_.config.checkpoint.every_steps = 2;
    request_.own_model = "counting";
    request_.machine = machine::probe(".");
    breaks_at(-1);
  }
  ~RunTest() override {
    log::set_sink(before_);
  }
  void breaks_at(std::int64_t update) {
    request_.make_engine = [update](const EngineRequest&) {
      return std::make_unique<CountingEngine>(update);
    };
  }
  std::filesystem::path checkpoints() const {
    return folder_ / "runs/x/checkpoints";
  }

  tests::TempFolder folder_;
  RunRequest request_;
  std::string said_;
  log::Sink before_;
};

TEST_F(RunTest, an_update_that_failed_half_way_is_begun_again_elsewhere) {
  breaks_at(5);
  const RunResult broken = run(request_);
  EXPECT_TRUE(broken.outcome.start_again);
  EXPECT_EQ(broken.outcome.ending, Ending::kStopped);
  EXPECT_THAT(said_, HasSubstr("an update failed half way. Resume the run."));
  EXPECT_EQ(checkpoint::Store(checkpoints()).load_latest()->update, 4);
  breaks_at(-1);
  request_.resume = folder_ / "runs/x";
  const RunResult done = run(request_);
  EXPECT_EQ(done.outcome.ending, Ending::kDone);
  EXPECT_EQ(done.outcome.updates, 16);
}

// Killed when its last checkpoint had its name, and nothing named it yet.
TEST_F(RunTest, a_finished_run_that_goes_on_names_its_last_checkpoint) {
  ASSERT_EQ(run(request_).outcome.updates, 16);
  ASSERT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
  write_file_atomically(checkpoints() / "latest", "step-14\n");
  request_.resume = folder_ / "runs/x";
  EXPECT_EQ(run(request_).outcome.ending, Ending::kDone);
  EXPECT_EQ(tests::read_bytes(checkpoints() / "latest"), "step-16\n");
}

} // namespace
} // namespace temper::train
