#include "temper/train/transfer/transfer_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace temper::train {
namespace {

using testing::ElementsAre;

graph::TensorData number(float value) {
  auto made = graph::make_tensor(graph::DType::kFloat32, {1});
  std::memcpy(made.bytes, &value, sizeof value);
  return made.data;
}

float value_of(const graph::TensorData& tensor) {
  float value = 0;
  std::memcpy(&value, tensor.bytes.get(), sizeof value);
  return value;
}

std::vector<std::string> names_of(const graph::Weights& weights) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : weights)
    names.push_back(name);
  return names;
}

// Adds the rate to each of its parameters, and 1 to their moments.
class FakeHead final : public Engine {
 public:
  explicit FakeHead(graph::Weights weights) {
    for (const auto& [name, tensor] : weights) {
      state_["model." + name] = tensor;
      state_["optimizer.first." + name] = number(0);
    }
  }
  EngineFacts facts() const override {
    EngineFacts facts;
    facts.parameters = facts.trainable =
        static_cast<std::int64_t>(state_.size() / 2);
    return facts;
  }
  bool step(const data::HostBatch&, const StepOrder& order) override {
    for (auto& [name, tensor] : state_)
      tensor = number(
          value_of(tensor) +
          (name[0] == 'm' ? static_cast<float>(order.lr) : 1));
    return true;
  }
  StepReport report() override {
    return {};
  }
  MetricSums take_training_sums() override {
    return {};
  }
  void evaluate(const data::HostBatch&) override {}
  MetricSums take_evaluation_sums() override {
    return {};
  }
  EngineState capture() override {
    return {state_};
  }
  void restore(const EngineState& state) override {
    for (auto& [name, tensor] : state_)
      tensor = state.tensors.at(name);
  }
  graph::Weights weights() override {
    graph::Weights all;
    for (const auto& [name, tensor] : state_)
      if (name[0] == 'm') all[name.substr(6)] = tensor;
    return all;
  }

 private:
  graph::Weights state_;
};

struct Made {
  explicit Made(bool unfreezes = true) {
    TransferEngineParts parts;
    parts.engine =
        std::make_unique<FakeHead>(graph::Weights{{"head", number(10)}});
    parts.frozen = {{"body", number(20)}};
    parts.frozen_values = 1;
    parts.phase = phase;
    if (unfreezes)
      parts.make_whole = [this](const graph::Weights& weights, auto update) {
        joined_at = update;
        return std::make_unique<FakeHead>(weights);
      };
    engine = transfer_engine(std::move(parts));
  }
  void step(std::int64_t update) const {
    StepOrder order;
    order.update = update;
    order.lr = 1;
    engine->step({}, order);
  }

  std::shared_ptr<TransferPhase> phase = std::make_shared<TransferPhase>();
  std::unique_ptr<Engine> engine;
  std::int64_t joined_at = -1;
};

TEST(TransferEngine, CheckpointsAndExportsHoldTheWholeModel) {
  const Made made(false);
  made.step(0);
  EXPECT_EQ(made.engine->facts().parameters, 2);
  EXPECT_EQ(made.engine->facts().trainable, 1);
  EXPECT_THAT(names_of(made.engine->weights()), ElementsAre("body", "head"));
  const EngineState state = made.engine->capture();
  EXPECT_THAT(
      names_of(state.tensors),
      ElementsAre("model.body", "model.head", "optimizer.first.head"));
  EXPECT_EQ(value_of(state.tensors.at("model.body")), 20);
  EXPECT_EQ(value_of(state.tensors.at("model.head")), 11);
  const Made other(false);
  other.engine->restore(state);
  EXPECT_EQ(value_of(other.engine->weights().at("head")), 11);
}

TEST(TransferEngine, UnfrozenEverythingTrainsAndTheRestKeepsItsState) {
  const Made made;
  made.step(0);
  made.step(1);
  made.phase->unfrozen = true;
  made.step(2);
  EXPECT_EQ(made.joined_at, 2);
  const EngineState state = made.engine->capture();
  EXPECT_EQ(value_of(state.tensors.at("model.head")), 13);
  EXPECT_EQ(value_of(state.tensors.at("optimizer.first.head")), 3);
  EXPECT_EQ(value_of(state.tensors.at("model.body")), 21);
  EXPECT_EQ(value_of(state.tensors.at("optimizer.first.body")), 1);
  EXPECT_EQ(made.engine->facts().trainable, 2);

  Made resumed;
  resumed.phase->unfrozen = true;
  resumed.engine->restore(state);
  EXPECT_EQ(resumed.joined_at, 2);
  made.step(3);
  resumed.step(3);
  for (const auto& [name, tensor] : made.engine->capture().tensors)
    EXPECT_EQ(
        value_of(tensor), value_of(resumed.engine->capture().tensors.at(name)))
        << name;
}

} // namespace
} // namespace temper::train
