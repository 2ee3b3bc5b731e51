#include "temper/train/transfer/transfer_engine.h"

#include <cstring>
#include <utility>

#include "temper/base/text.h"

namespace temper::train {
namespace {

constexpr const char* kUnfrozenAt = "transfer.unfrozen_at";
constexpr std::string_view kModel = "model.";

graph::TensorData count_tensor(std::int64_t count) {
  auto made = graph::make_tensor(graph::DType::kInt64, {1});
  std::memcpy(made.bytes, &count, sizeof count);
  return made.data;
}

std::int64_t count_of(const graph::TensorData& tensor) {
  std::int64_t count = 0;
  if (tensor.byte_count != sizeof count)
    throw Error(cat("[train] the checkpoint's ", kUnfrozenAt, " is damaged."));
  std::memcpy(&count, tensor.bytes.get(), sizeof count);
  return count;
}

class TransferEngine final : public Engine {
 public:
  explicit TransferEngine(TransferEngineParts parts)
      : parts_(std::move(parts)), now_(std::move(parts_.engine)) {}

  EngineFacts facts() const override {
    EngineFacts facts = now_->facts();
    facts.parameters += parts_.frozen_values;
    return facts;
  }

  bool step(const data::HostBatch& batch, const StepOrder& order) override {
    if (parts_.phase->unfrozen && unfrozen_at_ < 0) unfreeze(order.update);
    return now_->step(batch, order);
  }
  StepReport report() override {
    return now_->report();
  }
  MetricSums take_training_sums() override {
    return now_->take_training_sums();
  }
  MetricSums training_sums() const override {
    return now_->training_sums();
  }
  graph::Weights gradients() override {
    return now_->gradients();
  }
  void evaluate(const data::HostBatch& batch) override {
    now_->evaluate(batch);
  }
  void set_evaluation_slice(int samples) override {
    now_->set_evaluation_slice(samples);
  }
  MetricSums take_evaluation_sums() override {
    return now_->take_evaluation_sums();
  }

  EngineState capture() override {
    EngineState state = now_->capture();
    for (const auto& [name, tensor] : parts_.frozen)
      state.tensors.emplace(cat(kModel, name), tensor);
    if (unfrozen_at_ >= 0)
      state.tensors[kUnfrozenAt] = count_tensor(unfrozen_at_);
    return state;
  }

  void restore(const EngineState& state) override {
    const auto at = state.tensors.find(kUnfrozenAt);
    if (at != state.tensors.end() && unfrozen_at_ < 0)
      become_whole(count_of(at->second));
    now_->restore(state);
  }

  graph::Weights weights() override {
    graph::Weights all = now_->weights();
    all.insert(parts_.frozen.begin(), parts_.frozen.end());
    return all;
  }
  std::uint64_t memory_bytes() const override {
    return now_->memory_bytes();
  }

 private:
  void become_whole(std::int64_t update) {
    check(parts_.make_whole != nullptr, "what is unfrozen was to be");
    graph::Weights weights = parts_.frozen;
    for (const auto& [name, tensor] : now_->capture().tensors)
      if (name.starts_with(kModel))
        weights[name.substr(kModel.size())] = tensor;
    now_ = parts_.make_whole(weights, update);
    unfrozen_at_ = update;
    parts_.frozen.clear();
    parts_.frozen_values = 0;
  }

  // Parameters that trained go on with their moments and averages.
  void unfreeze(std::int64_t update) {
    const EngineState before = now_->capture();
    become_whole(update);
    EngineState state = now_->capture();
    for (auto& [name, tensor] : state.tensors)
      if (const auto kept = before.tensors.find(name);
          kept != before.tensors.end())
        tensor = kept->second;
    now_->restore(state);
  }

  TransferEngineParts parts_;
  std::unique_ptr<Engine> now_;
  std::int64_t unfrozen_at_ = -1; // update; negative: not yet
};

} // namespace

std::unique_ptr<Engine> transfer_engine(TransferEngineParts parts) {
  return std::make_unique<TransferEngine>(std::move(parts));
}

} // namespace temper::train
