#include "temper/train/run_data.h"

#include <set>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/cached_source.h"
#include "temper/data/limited_source.h"
#include "temper/data/open.h"
#include "temper/data/presets.h"

namespace temper::train {
namespace {

data::OpenOptions open_options(const config::Config& config) {
  data::OpenOptions options;
  options.path = config.data.path;
  options.val_fraction = config.data.val_fraction;
  options.seed = static_cast<std::uint64_t>(config.seed);
  options.target = config.data.target;
  options.sequence = static_cast<int>(config.data.sequence);
  return options;
}

void check_usable(const data::IndexedSource& source, const std::string& name) {
  if (source.size() == 0)
    throw Error(
        cat("[train] ", name, " has no samples to train on."),
        cat("Look at it with temper data check ", name, "."));
  if (source.info().target != data::Target::label) return;
  std::set<std::int64_t> seen;
  // One after the other: every second of labels that alternate are the same.
  for (std::int64_t i = 0; i < source.size() && seen.size() < 2; ++i) {
    const auto label = source.label(i);
    if (!label) return; // only reading would tell
    seen.insert(*label);
  }
  if (seen.size() == 1)
    throw Error(
        cat("[train] all samples of ",
            name,
            " have the same label, ",
            *seen.begin(),
            ": there is nothing to learn."),
        cat("Look at it with temper data check ", name, "."));
}

data::Filter filter_of(const std::string& resize) {
  if (resize == "nearest") return data::Filter::nearest;
  return resize == "bicubic" ? data::Filter::bicubic : data::Filter::bilinear;
}

std::shared_ptr<const data::Augment> augment_for(
    const config::Config& config,
    bool train,
    const data::SourceInfo& info) {
  if (info.input != data::Input::image) return nullptr;
  auto made = data::make_augment(
      config.data.augment,
      train,
      static_cast<int>(config.data.image_size),
      info,
      filter_of(config.data.resize));
  if (made.height == 0 || made.width == 0)
    if (info.height == 0 || info.width == 0)
      throw Error(
          cat("[train] the images of ",
              info.name,
              " have different sizes, and a batch needs one."),
          "Set data.image_size = 224, or data.augment = \"imagenet\".");
  return std::make_shared<data::Augment>(std::move(made));
}

std::vector<std::int64_t> shape_of(
    const data::SourceInfo& info,
    const data::Augment* augment) {
  if (augment == nullptr) return info.shape;
  return {
      augment->channels,
      augment->height > 0 ? augment->height : info.height,
      augment->width > 0 ? augment->width : info.width};
}

// Sources that decode or unpack; the others are mapped files already.
bool worth_caching(const std::string& name) {
  return starts_with(name, "folder:") || starts_with(name, "tar:") ||
      starts_with(name, "tfrecord:");
}

} // namespace

RunData open_data(
    const config::Config& config,
    const Environment& environment,
    std::uint64_t memory_bytes) {
  RunData made;
  made.source = config.data.source.empty() ? data::default_source(environment)
                                           : config.data.source;
  // Where somebody watches, silence is a hang and the program is started again;
  // an error would end the run.
  const double watched_s = config.watchdog.seconds;
  if (auto stream =
          data::open_stream(made.source, watched_s > 0 ? 10 * watched_s : 60)) {
    made.info = stream->info();
    made.stream = std::move(stream);
  } else {
    data::Splits splits = data::open_source(made.source, open_options(config));
    made.train = data::limited(splits.train, config.data.limit);
    made.val = splits.val;
    check_usable(*made.train, made.source);
    made.info = made.train->info();
    if (config.data.cache == "auto" && worth_caching(made.source)) {
      const std::uint64_t budget = memory_bytes / 4;
      auto cached = data::cached(made.train, budget);
      if (cached != made.train)
        made.notes.push_back("decoded samples stay in memory");
      made.train = std::move(cached);
    }
    made.train_samples = made.train->size();
  }
  if (!config.data.val.empty()) {
    const auto other = data::open_source(config.data.val, open_options(config));
    made.val =
        other.val != nullptr && other.val->size() > 0 ? other.val : other.train;
  }
  if (made.val != nullptr && made.val->size() == 0) made.val = nullptr;
  if (made.val != nullptr) made.val_samples = made.val->size();
  made.augment = augment_for(config, true, made.info);
  made.val_augment = augment_for(config, false, made.info);
  made.input_shape = shape_of(made.info, made.augment.get());
  return made;
}

data::LoaderOptions loader_options(
    const config::Config& config,
    const BatchLayout& layout,
    bool train) {
  data::LoaderOptions options;
  options.batch =
      static_cast<int>(config.train.batch * config.train.accumulate);
  options.shuffle = train;
  options.drop_last = train && config.train.drop_last;
  options.seed = static_cast<std::uint64_t>(config.seed);
  options.bad = config.data.bad == "skip" ? data::BadPolicy::skip
      : config.data.bad == "replace"      ? data::BadPolicy::replace
                                          : data::BadPolicy::error;
  options.element = layout.bytes ? data::Element::u8 : data::Element::f32;
  options.channels_last = layout.channels_last;
  options.workers = static_cast<int>(config.loader.workers.value_or(0));
  options.depth = static_cast<int>(config.loader.depth.value_or(0));
  options.memory_bytes = config.loader.memory.bytes.value_or(0);
  options.autotune = config.loader.autotune;
  return options;
}

std::unique_ptr<Batches> train_batches(
    RunData& data,
    const config::Config& config,
    const BatchLayout& layout) {
  const auto options = loader_options(config, layout, true);
  if (data.stream != nullptr)
    return stream_batches(std::move(data.stream), data.augment, options);
  return indexed_batches(data.train, data.augment, options);
}

std::unique_ptr<Batches> val_batches(
    const RunData& data,
    const config::Config& config,
    const BatchLayout& layout) {
  if (data.val == nullptr) return nullptr;
  return indexed_batches(
      data.val, data.val_augment, loader_options(config, layout, false));
}

} // namespace temper::train
