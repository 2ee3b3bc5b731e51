#include "temper/train/transfer/transfer_batches.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "temper/base/error.h"
#include "temper/graph/ir/weights.h"

namespace temper::train {
namespace {

std::uint32_t epoch_in(const std::string& state) {
  const auto json = nlohmann::json::parse(state, nullptr, false);
  const auto found = json.find("epoch");
  if (!json.is_object() || found == json.end() || !found->is_number_integer())
    throw Error("[train] the checkpoint's place in the data is damaged.");
  return found->get<std::uint32_t>();
}

class TransferBatches final : public Batches {
 public:
  explicit TransferBatches(TransferBatchesParts parts)
      : parts_(std::move(parts)) {
    check(
        parts_.samples != nullptr || !parts_.views.empty(),
        "there is something to train on");
    choose(0);
  }

  void start(std::uint32_t epoch) override {
    choose(epoch);
    now_->start(epoch);
  }

  bool ready(double seconds) override {
    return now_->ready(seconds);
  }

  const data::HostBatch* next() override {
    const data::HostBatch* batch = now_->next();
    if (batch == nullptr || !computes_) return batch;
    const auto values = graph::element_count(parts_.extractor->shape());
    features_.resize(static_cast<std::size_t>(batch->size * values));
    parts_.extractor->compute(*batch, features_.data());
    made_ = *batch;
    made_.element = data::Element::f32;
    made_.shape = parts_.extractor->shape();
    made_.inputs = features_.data();
    return &made_;
  }

  std::optional<std::int64_t> batches_per_epoch() const override {
    return now_->batches_per_epoch();
  }
  std::optional<std::int64_t> samples() const override {
    return now_->samples();
  }
  data::LoaderStats stats() const override {
    return now_->stats();
  }
  std::string describe(std::int64_t index) const override {
    return now_->describe(index);
  }
  std::string in_hand() const override {
    return now_->in_hand();
  }

  // The state as the samples' own loader would say it, whatever stands in for
  // them: a run may go on without the features it had, or with some.
  std::string state() const override {
    if (now_ != kept_.get()) return now_->state();
    auto state = data::LoaderState::from_json(kept_->state());
    state.pipeline_hash = parts_.samples_pipeline;
    return state.to_json();
  }
  void resume(const std::string& text) override {
    choose(epoch_in(text));
    if (now_ != kept_.get()) {
      now_->resume(text);
      return;
    }
    auto state = data::LoaderState::from_json(text);
    if (state.pipeline_hash == parts_.samples_pipeline)
      state.pipeline_hash = data::pipeline_hash(nullptr, parts_.loader.shuffle);
    now_->resume(state.to_json());
  }

 private:
  void choose(std::uint32_t epoch) {
    if (parts_.is_training && parts_.unfreeze_after > 0)
      parts_.phase->unfrozen = epoch >= parts_.unfreeze_after;
    computes_ = false;
    if (parts_.phase->unfrozen) {
      now_ = parts_.samples.get();
      kept_ = nullptr;
      return;
    }
    if (parts_.views.empty()) {
      now_ = parts_.samples.get();
      computes_ = parts_.extractor != nullptr;
      return;
    }
    const std::size_t view = epoch % parts_.views.size();
    if (kept_ == nullptr || view != view_)
      kept_ = indexed_batches(parts_.views[view], nullptr, parts_.loader);
    view_ = view;
    now_ = kept_.get();
  }

  TransferBatchesParts parts_;
  std::unique_ptr<Batches> kept_; // of the view under way
  std::size_t view_ = 0;
  Batches* now_ = nullptr;
  bool computes_ = false;
  std::vector<float> features_;
  data::HostBatch made_;
};

} // namespace

std::unique_ptr<Batches> transfer_batches(TransferBatchesParts parts) {
  return std::make_unique<TransferBatches>(std::move(parts));
}

} // namespace temper::train
