// A whole run, with an engine that needs no torch.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "temper/base/log.h"
#include "temper/machine/probe.h"
#include "temper/train/run/run.h"
#include "tests/temp_folder.h"

namespace temper::train {

class CountingEngine final : public Engine {
 public:
  // Calls `fail` instead of making that update.
  CountingEngine(std::int64_t fails_at, std::function<void()> fail)
      : fails_at_(fails_at), fail_(std::move(fail)) {}

  EngineFacts facts() const override {
    EngineFacts facts;
    facts.model = "counting";
    facts.device = "cpu";
    return facts;
  }
  bool step(const data::HostBatch& batch, const StepOrder& order) override {
    if (order.update == fails_at_) fail_();
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
  void evaluate(const data::HostBatch&) override {}
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
  std::int64_t fails_at_;
  std::function<void()> fail_;
  std::int64_t steps_ = 0;
  MetricSums sums_;
};

class CountingRun : public testing::Test {
 protected:
  CountingRun() {
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
  ~CountingRun() override {
    log::set_sink(before_);
  }
  void fails_at(std::int64_t update, const std::function<void()>& fail) {
    request_.factories.make_engine = [=](const EngineRequest&) {
      return std::make_unique<CountingEngine>(update, fail);
    };
  }
  void breaks_at(std::int64_t update) { // -1: at none
    fails_at(update, [] {
      throw HalfDone("[train] an update failed half way.", "Resume the run.");
    });
  }
  journal::RunDirectory directory() const {
    return {folder_ / "runs" / request_.config.run.name};
  }

  tests::TempFolder folder_;
  RunRequest request_;
  std::string said_;
  log::Sink before_;
};

} // namespace temper::train
