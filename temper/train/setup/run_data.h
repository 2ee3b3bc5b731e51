// The data of a run, opened and ready to be loaded: what a config's [data] and
// [loader] sections come to. No torch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/config/config.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/source.h"
#include "temper/data/transform/transform.h"
#include "temper/train/setup/batches.h"
#include "temper/train/setup/loader_host.h"

namespace temper::train {

struct RunData {
  data::SourceInfo info;
  std::string source; // its name, also when nobody said
  std::string test_source; // data.test, or what lies beside the source
  std::int64_t train_samples = 0; // 0: a generator does not say
  std::int64_t val_samples = 0;
  std::int64_t test_samples = 0;
  // The meaning of inputs and targets, made from the training part; of a
  // generator, by what it says of itself.
  std::shared_ptr<const data::Schema> schema;
  std::shared_ptr<const data::Augment> augment; // null: not images
  // The shape of one input as the model sees it: {C, H, W}, {features},
  // {tokens}.
  std::vector<std::int64_t> input_shape;
  std::vector<std::string> notes; // for the start-up table
  LoaderHost host;

  // One of them, by what the source is.
  std::shared_ptr<const data::IndexedSource> train;
  std::shared_ptr<const data::IndexedSource> val;
  std::unique_ptr<data::StreamSource> stream;
  std::shared_ptr<const data::Augment> val_augment;
  // Scored once, at the end.
  std::shared_ptr<const data::IndexedSource> test;
  std::shared_ptr<const data::Augment> test_augment;
};

// Data that a C++ program brings: a source of its own (data/sample/source.h)
// for any of the parts, or a generator for training.
struct OwnData {
  std::shared_ptr<const data::IndexedSource> train;
  // Null when data.val_fraction of `train` is split off, or data.val is opened.
  std::shared_ptr<const data::IndexedSource> val;
  std::shared_ptr<const data::IndexedSource> test; // null: as data.test says
  std::unique_ptr<data::StreamSource> stream; // instead of `train`
};
// Called when a run begins or is resumed, and again for its artifacts.
using OpenOwnData = std::function<OwnData(const config::Config&)>;

// Error for data that cannot be trained on: empty, one class only, ...
// `own_model`: it is not made from the config, and knows its classes.
// `schema`: that of a run that goes on or is looked at again, which all parts
// obey; null: one is made. `own`: what opens the data instead of data.source;
// null: its name does.
RunData open_data(
    const config::Config& config,
    const Environment& environment,
    std::uint64_t memory_bytes,
    bool own_model = false,
    std::shared_ptr<const data::Schema> schema = nullptr,
    const OpenOwnData& own = nullptr);

// The parts of a source as training would open them, without an augmentation:
// for callers that look at data before a run.
data::Splits open_splits(
    const std::string& source,
    const config::Config& config);

// Images come as normalised floats, or as bytes that the device normalises.
struct InputFormat {
  bool bytes = false;
  bool channels_last = false;
};

// The fate of a sample that cannot be read: data.bad.
data::BadPolicy bad_policy_of(const config::Data& asked);

data::LoaderOptions loader_options(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout,
    bool train);

// Takes the stream out of `data`.
std::unique_ptr<Batches> train_batches(
    RunData& data,
    const config::Config& config,
    const InputFormat& layout);
// The validation batches; null when there is nothing to validate on.
std::unique_ptr<Batches> val_batches(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout);
std::unique_ptr<Batches> test_batches(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout);

} // namespace temper::train
