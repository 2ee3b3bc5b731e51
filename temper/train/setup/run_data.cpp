#include "temper/train/setup/run_data.h"

#include <filesystem>
#include <set>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/base/words.h"
#include "temper/config/fields.h"
#include "temper/data/open/fit.h"
#include "temper/data/open/open.h"
#include "temper/data/open/source_name.h"
#include "temper/data/sample/cached_source.h"
#include "temper/data/sample/split.h"
#include "temper/data/transform/presets.h"
#include "temper/train/setup/earlier_schema.h"
#include "temper/train/setup/image_side.h"

namespace temper::train {
namespace {

constexpr Word<data::BadPolicy> kBadPolicies[] = {
    {data::BadPolicy::error, "error"},
    {data::BadPolicy::skip, "skip"},
    {data::BadPolicy::replace, "replace"}};

bool is_file(const std::string& model) {
  const auto ending = std::filesystem::path(model).extension();
  return ending == ".pt" || ending == ".pt2";
}

data::OpenOptions open_options(const config::Config& config) {
  const config::Data& asked = config.data;
  data::OpenOptions options;
  options.path = asked.path;
  options.val_fraction = asked.val.empty() ? asked.val_fraction : 0;
  options.stratified = asked.split == "stratified";
  options.seed = static_cast<std::uint64_t>(config.seed);
  options.limit = asked.limit;
  options.limit_val = asked.limit_val;
  options.target = asked.target;
  options.sequence = static_cast<int>(asked.sequence);
  options.table = {asked.columns, asked.drop, asked.decimal};
  options.unseen_is_error = asked.unseen == "error";
  // A file's network knows what it wants of arrays; those of the zoo take
  // what has been standardised, and images as C x H x W.
  const std::string& model = config.model.name;
  const bool numbers =
      config.train.task == "regression" || config.train.loss == "mse";
  const bool bits = config.train.loss == "bce";
  options.numbers.scale = asked.scale == "standard";
  options.numbers.scale_targets = !bits;
  options.numbers.scale_arrays = !is_file(model);
  options.numbers.as_images =
      !is_file(model) && model != "mlp" && !model.starts_with("gpt");
  options.numbers.one_hot_is_class = !numbers && !bits;
  return options;
}

void check_usable(const data::IndexedSource& source, const std::string& name) {
  if (source.size() == 0)
    throw Error(
        cat("[train] ", name, " has no samples to train on."),
        cat("Look at it with temper data check ", name, "."));
  if (source.info().target != data::Target::label) return;
  std::set<std::int64_t> seen;
  // Scan in order: a stride of 2 would miss labels that alternate.
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

// data.mean and data.std, where they are given.
void normalise_as_asked(const config::Data& asked, data::SourceInfo& info) {
  if (asked.mean.empty() && asked.std.empty()) return;
  const auto channels = static_cast<std::size_t>(info.channels);
  if (asked.mean.size() != channels || asked.std.size() != channels)
    throw Error(
        cat("[train] ",
            info.name,
            " has ",
            plural(info.channels, "channel"),
            "; data.mean has ",
            plural(static_cast<std::int64_t>(asked.mean.size()), "number"),
            " and data.std ",
            asked.std.size(),
            "."),
        "Give both one number a channel, or neither.");
  info.mean.assign(asked.mean.begin(), asked.mean.end());
  info.deviation.assign(asked.std.begin(), asked.std.end());
}

std::shared_ptr<const data::Augment> augment_for(
    const config::Config& config,
    bool train,
    data::SourceInfo info,
    int image_side) {
  if (info.input != data::Input::image) return nullptr;
  normalise_as_asked(config.data, info);
  return std::make_shared<data::Augment>(data::make_augment(
      config.data.augment.list,
      train,
      image_side,
      info,
      filter_of(config.data.resize)));
}

// A file brings its last layer with it; all others get one for the classes.
bool takes_classes_from_data(const config::Config& config) {
  const auto ending = std::filesystem::path(config.model.name).extension();
  return ending != ".pt" && ending != ".pt2";
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
  return name.starts_with("folder:") || name.starts_with("tar:") ||
      name.starts_with("tfrecord:");
}

// Brings the images of another source to the size of those of training.
std::shared_ptr<const data::Augment> other_augment(
    const config::Config& config,
    const data::SourceInfo& other,
    const RunData& data) {
  if (other.input != data::Input::image) return nullptr;
  data::SourceInfo info = other;
  info.mean = data.info.mean;
  info.deviation = data.info.deviation;
  const std::int64_t height = data.input_shape[1];
  const std::int64_t width = data.input_shape[2];
  auto size = static_cast<int>(config.data.image_size);
  if (size == 0 && (info.height == 0 || info.width == 0)) {
    if (height == width) size = static_cast<int>(height);
    info.height = size > 0 ? 0 : data.info.height; // unknown: as in training
    info.width = size > 0 ? 0 : data.info.width;
  }
  auto made = augment_for(config, false, info, size);
  const auto shape = shape_of(info, made.get());
  if (shape != data.input_shape)
    throw Error(
        cat("[train] the images of ",
            info.name,
            " are ",
            shape[2],
            " x ",
            shape[1],
            " pixels, and training has ",
            width,
            " x ",
            height,
            "."),
        cat("Set data.image_size = ", height, " to bring them to one size."));
  return made;
}

data::Schema schema_of(const data::SourceInfo& info) {
  data::Schema schema;
  schema.input = info.input;
  schema.target = info.target;
  schema.classes = info.classes;
  if (info.input == data::Input::image) {
    schema.image.emplace();
    schema.image->channels = info.channels;
  }
  return schema;
}

// Fills in what is known once the validation images have their rule.
void complete(data::Schema& schema, const RunData& data) {
  schema.input_shape = data.input_shape;
  if (data.val_augment == nullptr) return;
  const data::Augment& augment = *data.val_augment;
  data::ImageRule rule;
  rule.channels = augment.channels;
  rule.short_side = augment.short_side;
  rule.filter = augment.filter;
  rule.height = static_cast<int>(data.input_shape[1]);
  rule.width = static_cast<int>(data.input_shape[2]);
  rule.mean = augment.mean;
  rule.deviation = augment.deviation;
  schema.image = std::move(rule);
}

OwnData own_data(const config::Config& config, const OpenOwnData& open) {
  const std::string& named = config.data.source;
  if (!named.empty() && !named.starts_with(data::kOwnSource))
    throw Error(
        cat("[train] the program brings data of its own, and data.source names "
            "other data: ",
            named,
            "."),
        "Leave data.source empty.");
  OwnData made = open(config);
  if ((made.train == nullptr) == (made.stream == nullptr))
    throw Error(
        "[train] the program's own data has no training part, or two.",
        "Return either OwnData::train or OwnData::stream.");
  return made;
}

std::string own_name(const OwnData& own) {
  const data::SourceInfo& info =
      own.train != nullptr ? own.train->info() : own.stream->info();
  return cat(data::kOwnSource, info.name);
}

// Divided, limited and fitted to a schema as the sources of names are.
data::Splits own_splits(const OwnData& own, const data::OpenOptions& options) {
  data::Splits raw;
  if (own.val != nullptr) {
    raw.train = own.train;
    raw.val = own.val;
  } else {
    raw = data::divide(own.train, options);
  }
  return data::fitted(std::move(raw), options);
}

// The parts of the training source. Where weights of a run are trained on,
// their columns, classes and scales count, if the data has the same ones.
data::Splits open_parts(
    const std::string& source,
    const config::Config& config,
    data::OpenOptions options,
    const OwnData& own) {
  const auto open = [&] {
    return own.train != nullptr ? own_splits(own, options)
                                : data::open_source(source, options);
  };
  if (options.schema != nullptr) return open();
  const EarlierSchema earlier = earlier_schema(config.model);
  const auto open_by_name = [&] { // the target, wherever its column stands
    if (earlier.schema == nullptr || !options.target.empty()) return open();
    options.target = earlier.schema->target_name;
    try {
      return open();
    } catch (const Error&) {
      options.target.clear();
      return open();
    }
  };
  data::Splits splits = open_by_name();
  if (earlier.schema == nullptr || *earlier.schema == *splits.schema)
    return splits;
  const bool images = splits.train->info().input == data::Input::image;
  if (images && earlier.schema->classes == splits.schema->classes)
    return splits;
  if (!reads_as(*splits.schema, *earlier.schema)) {
    const std::string note = other_meaning(*splits.schema, earlier);
    if (!note.empty() && config.model.head == "keep")
      splits.notes.push_back(note);
    return splits;
  }
  options.schema = earlier.schema;
  splits = open();
  splits.notes.push_back(
      cat(images ? "classes have the order of "
                 : "inputs and targets have the order and the scales of ",
          earlier.of));
  return splits;
}

// The side that images are brought to, as image_side() has it.
int open_training(
    RunData& made,
    const config::Config& config,
    std::uint64_t memory_bytes,
    const data::OpenOptions& options,
    const OwnData& own) {
  data::Splits splits = open_parts(made.source, config, options, own);
  made.train = splits.train;
  made.val = splits.val;
  made.schema = splits.schema;
  made.test_source = std::move(splits.test);
  made.notes = std::move(splits.notes);
  check_usable(*made.train, made.source);
  made.info = made.train->info();
  const int side = image_side(config, *made.train, made.info);
  if (config.data.cache == "auto" && worth_caching(made.source)) {
    auto cached = data::cached(made.train, memory_bytes / 4);
    if (cached != made.train)
      made.notes.push_back("decoded samples stay in memory");
    made.train = std::move(cached);
  }
  made.train_samples = made.train->size();
  return side;
}

void open_test(
    RunData& made,
    const config::Config& config,
    data::OpenOptions options,
    const std::shared_ptr<const data::IndexedSource>& own) {
  options.limit_val = 0;
  made.test = own != nullptr
      ? data::fitted_other({.train = own}, "test", options, made.notes)
      : data::open_other(made.test_source, "test", options, made.notes);
  made.test_augment = other_augment(config, made.test->info(), made);
  made.test_samples = made.test->size();
}

// data.val and data.test, by the schema of the training part. A test part that
// lies beside it is taken where data.test names none.
void open_others(
    RunData& made,
    const config::Config& config,
    data::OpenOptions options,
    const OwnData& own) {
  options.schema = made.schema;
  if (!config.data.val.empty())
    made.val =
        data::open_other(config.data.val, "validation", options, made.notes);
  if (made.val != nullptr)
    made.val_augment = other_augment(config, made.val->info(), made);
  const bool asked = !config.data.test.empty();
  if (asked) made.test_source = config.data.test;
  if (!asked && own.test != nullptr) {
    made.test_source = cat(data::kOwnSource, own.test->info().name);
    open_test(made, config, options, own.test);
    return;
  }
  if (made.test_source.empty()) return;
  try {
    open_test(made, config, options, nullptr);
  } catch (const Error& error) {
    if (asked) throw;
    // It lies beside the training data, and may be without classes.
    made.test = nullptr;
    made.notes.push_back(
        cat(made.test_source, " is not tested with: ", error.what()));
  }
}

} // namespace

data::Splits open_splits(
    const std::string& source,
    const config::Config& config) {
  data::OpenOptions options = open_options(config);
  data::Splits splits = data::open_source(source, options);
  if (config.data.val.empty()) return splits;
  options.schema = splits.schema;
  splits.val =
      data::open_other(config.data.val, "validation", options, splits.notes);
  return splits;
}

RunData open_data(
    const config::Config& config,
    const Environment& environment,
    std::uint64_t memory_bytes,
    bool own_model,
    std::shared_ptr<const data::Schema> schema,
    const OpenOwnData& open_own) {
  RunData made;
  OwnData own;
  if (open_own) own = own_data(config, open_own);
  made.source = open_own           ? own_name(own)
      : config.data.source.empty() ? data::default_source(environment)
                                   : data::with_kind(config.data.source);
  int side = 0;
  data::OpenOptions options = open_options(config);
  if (own_model) { // it knows what it wants of arrays
    options.numbers.scale_arrays = false;
    options.numbers.as_images = false;
  }
  options.schema = std::move(schema);
  // Where somebody watches, silence is a hang and the program is started again;
  // an error would end the run.
  const double watched_s = config.watchdog.seconds;
  auto stream = open_own
      ? std::move(own.stream)
      : data::open_stream(made.source, watched_s > 0 ? 10 * watched_s : 60);
  if (stream != nullptr) {
    made.info = stream->info();
    side = stream_image_side(
        config,
        made.source,
        !own_model && takes_classes_from_data(config),
        made.info);
    made.stream = std::move(stream);
    made.schema = std::make_shared<const data::Schema>(schema_of(made.info));
  } else {
    side = open_training(made, config, memory_bytes, options, own);
  }
  made.augment = augment_for(config, true, made.info, side);
  made.val_augment = augment_for(config, false, made.info, side);
  if (made.augment == nullptr && config.data.augment != "none")
    made.notes.push_back(
        cat("data.augment = ",
            config::value_text(*config::find_field("data.augment"), config),
            " changes nothing: the inputs are ",
            data::to_string(made.info.input),
            ", not images"));
  made.input_shape = shape_of(made.info, made.augment.get());
  data::Schema whole = *made.schema;
  complete(whole, made);
  made.schema = std::make_shared<const data::Schema>(std::move(whole));
  open_others(made, config, options, own);
  if (made.val != nullptr && made.val->size() == 0) made.val = nullptr;
  if (made.val != nullptr) made.val_samples = made.val->size();
  return made;
}

data::BadPolicy bad_policy_of(const config::Data& asked) {
  if (const auto policy = enum_value(kBadPolicies, asked.bad)) return *policy;
  throw Error(
      cat("[config] data.bad cannot be \"", asked.bad, "\"."),
      "It can be error, skip or replace.");
}

data::LoaderOptions loader_options(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout,
    bool train) {
  data::LoaderOptions options;
  options.batch =
      static_cast<int>(config.train.batch * config.train.accumulate);
  options.shuffle = train;
  options.drop_last = train && config.train.drop_last;
  options.seed = static_cast<std::uint64_t>(config.seed);
  options.bad = bad_policy_of(config.data);
  options.element = layout.bytes ? data::Element::u8 : data::Element::f32;
  options.channels_last = layout.channels_last;
  options.workers = static_cast<int>(config.loader.workers.value_or(0));
  options.depth = static_cast<int>(config.loader.depth.value_or(0));
  options.memory_bytes =
      config.loader.memory.bytes.value_or(data.host.memory_bytes);
  options.cores = data.host.cores;
  options.autotune = config.loader.autotune;
  options.tuning_file = data.host.tuning_file;
  options.machine_key = data.host.machine_key;
  return options;
}

std::unique_ptr<Batches> train_batches(
    RunData& data,
    const config::Config& config,
    const InputFormat& layout) {
  const auto options = loader_options(data, config, layout, true);
  if (data.stream != nullptr)
    return stream_batches(std::move(data.stream), data.augment, options);
  return indexed_batches(data.train, data.augment, options);
}

std::unique_ptr<Batches> val_batches(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout) {
  if (data.val == nullptr) return nullptr;
  return indexed_batches(
      data.val, data.val_augment, loader_options(data, config, layout, false));
}

std::unique_ptr<Batches> test_batches(
    const RunData& data,
    const config::Config& config,
    const InputFormat& layout) {
  if (data.test == nullptr) return nullptr;
  auto options = loader_options(data, config, layout, false);
  options.tuning_file.clear(); // once: nothing to remember
  return indexed_batches(data.test, data.test_augment, options);
}

} // namespace temper::train
