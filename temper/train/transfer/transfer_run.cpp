#include "temper/train/transfer/transfer_run.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/data/feature/feature_source.h"
#include "temper/data/feature/feature_store.h"
#include "temper/graph/ir/ties.h"
#include "temper/train/setup/freeze.h"
#include "temper/train/transfer/feature_cache.h"
#include "temper/train/transfer/frozen_split.h"
#include "temper/train/transfer/transfer_batches.h"
#include "temper/train/transfer/transfer_engine.h"

namespace temper::train {
namespace {

// More at once is not quicker, and takes memory.
constexpr std::int64_t kMostAtOnce = 64;

// Without what can only be had once.
RunData without_stream(const RunData& data) {
  RunData made;
  made.info = data.info;
  made.source = data.source;
  made.train_samples = data.train_samples;
  made.val_samples = data.val_samples;
  made.augment = data.augment;
  made.val_augment = data.val_augment;
  made.schema = data.schema;
  made.input_shape = data.input_shape;
  return made;
}

RunData feature_data(
    const RunData& data,
    const std::vector<std::int64_t>& shape) {
  RunData made = without_stream(data);
  made.info = data::feature_info(data.info, shape);
  made.augment = nullptr;
  made.val_augment = nullptr;
  made.input_shape = shape;
  return made;
}

std::uint64_t bytes_of_weights(const graph::Weights& weights) {
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : weights)
    bytes += tensor.byte_count;
  return bytes;
}

// Frozen parameters of the graph, which join the optimiser later.
std::vector<std::string> frozen_names(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Input* input :
       graph.inputs_of(graph::InputKind::kParameter))
    if (!input->trainable) names.push_back(input->target);
  return names;
}

class Preparation {
 public:
  explicit Preparation(const TransferRequest& request)
      : request_(request), config_(request.config) {}

  TransferParts prepare(std::optional<FrozenSplit> split, std::string why) {
    split_ = std::move(split);
    std::string why_not = std::move(why);
    if (split_) {
      extractor_ = request_.make_extractor(
          {split_->prefix,
           split_->shape,
           request_.data,
           request_.setting.device,
           request_.layout,
           feature_batch(config_)});
      why_not = keep_features();
    }
    if (!why_not.empty())
      made_.notes.push_back(
          cat("the frozen part runs in every epoch: ", why_not));
    if (split_ && why_not.empty() && !unfreezes()) {
      made_.stepped = split_->rest;
      if (request_.data.test != nullptr)
        made_.frozen_bytes = bytes_of_weights(split_->prefix.weights);
    }
    make_batches();
    make_engine();
    return std::move(made_);
  }

 private:
  bool unfreezes() const {
    return config_.model.unfreeze_after > 0;
  }
  bool is_random() const {
    const auto& augment = request_.data.augment;
    return augment != nullptr && augment->is_random();
  }

  // Why not, when they are not.
  std::string keep_features() {
    const RunData& data = request_.data;
    if (config_.model.feature_cache == "off")
      return "model.feature_cache is off";
    if (data.train == nullptr) return "a stream is never the same";
    const auto views = config_.model.feature_views;
    if (is_random() && views == 0)
      return cat(
          "data.augment = ",
          config::value_text(*config::find_field("data.augment"), config_),
          " gives other images every time (model.feature_views = 4 would "
          "keep four of each)");
    const auto train_views =
        static_cast<std::uint32_t>(is_random() ? views : 1);
    std::vector<FeatureView> all;
    const std::string what =
        cat(request_.model.name, " on ", data.source, ", ");
    for (std::uint32_t view = 0; view < train_views; ++view)
      all.push_back({data.train, data.augment, view, what + "train"});
    if (data.val != nullptr)
      all.push_back({data.val, data.val_augment, 0, what + "val"});
    if (request_.dry) {
      made_.notes.push_back("the frozen part would be computed once");
      return "";
    }
    const CachedFeatures cached =
        cached_features(all, cache_options(), *extractor_);
    if (cached.sources.empty()) return cached.why_not;
    train_views_.assign(
        cached.sources.begin(), cached.sources.begin() + train_views);
    if (data.val != nullptr) val_views_ = {cached.sources.back()};
    tell(cached, train_views);
    return "";
  }

  FeatureCacheOptions cache_options() const {
    FeatureCacheOptions options;
    options.folder = data::feature_folder(request_.environment);
    options.most_bytes = config_.model.feature_bytes.bytes.value_or(0);
    options.frozen_hash = split_->hash;
    options.loader =
        loader_options(request_.data, config_, request_.layout, true);
    options.loader.batch = feature_batch(config_);
    options.loader.tuning_file.clear(); // once: nothing to remember
    if (request_.preparing)
      options.progress = [this](std::int64_t done, std::int64_t total) {
        request_.preparing("computing features", done, total);
      };
    return options;
  }

  void tell(const CachedFeatures& cached, std::uint32_t views) {
    // An epoch would compute one view of the training part, and validation.
    const double epoch_s = cached.compute_s *
        static_cast<double>(request_.data.train_samples +
                            request_.data.val_samples) /
        static_cast<double>(std::max<std::int64_t>(cached.samples, 1));
    made_.notes.push_back(
        cat("features of ",
            plural(cached.samples, "sample"),
            views > 1 ? cat(" (", views, " views)") : "",
            cached.computed > 0
                ? cat(" computed once in ", seconds_text(cached.compute_s))
                : " found in the cache",
            ", ",
            bytes_text(cached.bytes),
            ": each epoch saves ~",
            seconds_text(epoch_s)));
  }

  void make_batches() {
    const auto phase = phase_;
    const auto parts = [&](bool train) {
      TransferBatchesParts made;
      made.views = train ? train_views_ : val_views_;
      made.loader =
          loader_options(request_.data, config_, request_.layout, train);
      made.samples_pipeline = data::pipeline_hash(
          train ? request_.data.augment.get() : request_.data.val_augment.get(),
          train);
      // Kept features need no frozen part beside them in memory.
      if (made.views.empty()) made.extractor = extractor_;
      made.unfreeze_after =
          static_cast<std::uint32_t>(config_.model.unfreeze_after);
      made.phase = phase;
      made.is_training = train;
      return made;
    };
    TransferBatchesParts train = parts(true);
    if (train.views.empty() || unfreezes())
      train.samples = train_batches(request_.data, config_, request_.layout);
    made_.train = transfer_batches(std::move(train));
    if (request_.data.test != nullptr) { // once: nothing is kept for it
      TransferBatchesParts test = parts(false);
      test.views.clear();
      test.extractor = extractor_;
      test.samples_pipeline =
          data::pipeline_hash(request_.data.test_augment.get(), false);
      test.samples = test_batches(request_.data, config_, request_.layout);
      made_.test = transfer_batches(std::move(test));
    }
    if (request_.data.val == nullptr) return;
    TransferBatchesParts val = parts(false);
    if (val.views.empty() || unfreezes())
      val.samples = val_batches(request_.data, config_, request_.layout);
    made_.val = transfer_batches(std::move(val));
  }

  void make_engine() {
    TransferEngineParts parts;
    const auto make = [&](const RunModel& model, const RunData& data) {
      return request_.make_engine(
          {config_,
           model,
           data,
           request_.setting.device,
           request_.layout,
           {},
           request_.setting.precision,
           request_.setting.layout == plan::Layout::channels_last,
           request_.setting.kernels});
    };
    parts.engine = split_
        ? make(split_->rest, feature_data(request_.data, split_->shape))
        : make(request_.model, without_stream(request_.data));
    if (split_) {
      parts.frozen = split_->frozen;
      parts.frozen_values = split_->frozen_values;
    }
    parts.phase = phase_;
    if (unfreezes()) parts.make_whole = whole_engine();
    made_.engine = transfer_engine(std::move(parts));
  }

  std::function<std::unique_ptr<Engine>(const graph::Weights&, std::int64_t)>
  whole_engine() const {
    const auto data = std::make_shared<RunData>(without_stream(request_.data));
    return [config = config_,
            model = request_.model,
            data,
            setting = request_.setting,
            layout = request_.layout,
            make = request_.make_engine](
               const graph::Weights& weights, std::int64_t update) {
      RunModel whole = model;
      LateParameters joined;
      joined.update = update;
      whole.still_norms.clear();
      whole.freeze.clear();
      joined.names = model.freeze;
      if (whole.program) {
        joined.names = frozen_names(whole.program->graph);
        whole.program = unfrozen(*whole.program);
        graph::replace_weights(*whole.program, weights);
      }
      return make(
          {config,
           whole,
           *data,
           setting.device,
           layout,
           joined,
           setting.precision,
           setting.layout == plan::Layout::channels_last,
           setting.kernels});
    };
  }

  const TransferRequest& request_;
  const config::Config& config_;
  std::optional<FrozenSplit> split_;
  std::shared_ptr<FeatureExtractor> extractor_;
  std::vector<std::shared_ptr<const data::IndexedSource>> train_views_;
  std::vector<std::shared_ptr<const data::IndexedSource>> val_views_;
  std::shared_ptr<TransferPhase> phase_ = std::make_shared<TransferPhase>();
  TransferParts made_;
};

// A task of somebody's own may do more with its inputs than to put them into
// the model; so do mixing and reconstruction.
std::string needs_samples(const TransferRequest& request) {
  const auto& train = request.config.train;
  using Function = std::unique_ptr<Engine> (*)(const EngineRequest&);
  const auto* built_in = request.make_engine.target<Function>();
  if (built_in == nullptr || *built_in != &train::make_engine)
    return "a train_step of your own gets the samples themselves";
  if (train.mixup > 0 || train.cutmix > 0)
    return "train.mixup and train.cutmix mix its inputs";
  if (train.task == "autoencode") return "its inputs are the targets";
  return "";
}

} // namespace

int feature_batch(const config::Config& config) {
  std::int64_t most = kMostAtOnce;
  if (config.memory.micro_batch)
    most = std::min(most, *config.memory.micro_batch);
  const std::int64_t parts = (config.train.batch + most - 1) / most;
  return static_cast<int>((config.train.batch + parts - 1) / parts);
}

std::optional<TransferParts> prepare_transfer(const TransferRequest& request) {
  std::string why;
  std::optional<FrozenSplit> split = split_frozen(request.model, why);
  if (!split && why.empty()) {
    if (request.config.model.unfreeze_after > 0)
      throw Error(
          "[train] model.unfreeze_after is set, and nothing is frozen.",
          "Set model.freeze = \"backbone\", or leave it out.");
    return std::nullopt;
  }
  if (const std::string needs = needs_samples(request);
      split && !needs.empty()) {
    split = std::nullopt;
    why = needs;
  }
  return Preparation(request).prepare(std::move(split), std::move(why));
}

void take_weights(RunModel& model, const graph::Weights& checkpoint) {
  if (!model.program) return;
  graph::Weights found;
  for (const auto& [name, tensor] : model.program->weights) {
    const auto saved = checkpoint.find(cat("model.", name));
    if (saved != checkpoint.end() && saved->second.dtype == tensor.dtype &&
        saved->second.sizes == tensor.sizes)
      found[name] = saved->second;
  }
  graph::replace_weights(*model.program, found);
}

} // namespace temper::train
