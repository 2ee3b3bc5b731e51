// The data of a run, opened and ready to be loaded: what a config's [data] and
// [loader] sections come to. No torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/config/config.h"
#include "temper/data/source.h"
#include "temper/data/transform.h"
#include "temper/train/batches.h"

namespace temper::train {

struct RunData {
  data::SourceInfo info;
  std::string source; // its name, also when nobody said
  std::int64_t train_samples = 0; // 0: a generator does not say
  std::int64_t val_samples = 0;
  std::shared_ptr<const data::Augment> augment; // null: not images
  // Of one input as the model sees it: {C, H, W}, {features}, {tokens}.
  std::vector<std::int64_t> input_shape;
  std::vector<std::string> notes; // for the start-up table

  // One of them, by what the source is.
  std::shared_ptr<const data::IndexedSource> train;
  std::shared_ptr<const data::IndexedSource> val;
  std::unique_ptr<data::StreamSource> stream;
  std::shared_ptr<const data::Augment> val_augment;
};

// Error for data that cannot be trained on: empty, one class only, ...
RunData open_data(
    const config::Config& config,
    const Environment& environment,
    std::uint64_t memory_bytes);

// Images come as normalised floats, or as bytes that the device normalises.
struct BatchLayout {
  bool bytes = false;
  bool channels_last = false;
};

// What the loaders of a run are asked for.
data::LoaderOptions loader_options(
    const config::Config& config,
    const BatchLayout& layout,
    bool train);

// Takes the stream out of `data`.
std::unique_ptr<Batches> train_batches(
    RunData& data,
    const config::Config& config,
    const BatchLayout& layout);
// Null when there is nothing to validate on.
std::unique_ptr<Batches> val_batches(
    const RunData& data,
    const config::Config& config,
    const BatchLayout& layout);

} // namespace temper::train
