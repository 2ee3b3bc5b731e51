#include "temper/train/setup/run_model.h"

#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/schedule/lr_scale.h"
#include "temper/train/setup/freeze.h"
#include "temper/train/setup/model_choice.h"
#include "temper/weights/load_weights.h"
#include "temper/weights/weights_file.h"

namespace temper::train {
namespace {

// Classes, numbers or tokens: what the last layer gives.
std::int64_t outputs_for(const config::Config& config, const RunData& data) {
  if (config.model.classes) return *config.model.classes;
  switch (data.info.target) {
    case data::Target::label:
      return static_cast<std::int64_t>(data.info.classes.size());
    case data::Target::numbers:
      return data.info.target_size;
    case data::Target::tokens:
      return data.info.vocabulary;
  }
  throw Bug("a target outside the table");
}

model::ZooOptions zoo_options(
    const config::Config& config,
    const RunData& data,
    const std::string& name,
    std::int64_t outputs) {
  model::ZooOptions options;
  options.name = name;
  options.stem = config.model.stem;
  options.width = config.model.width;
  options.seed = static_cast<std::uint64_t>(config.seed);
  if (config.model.dropout >= 0) options.dropout = config.model.dropout;
  if (name == "mlp") options.widths = config.model.widths;
  if (data.info.input == data::Input::tokens) {
    options.vocabulary = data.info.vocabulary;
    options.context = data.input_shape.at(0);
    return options;
  }
  options.classes = outputs;
  const bool numbers = data.info.input == data::Input::numbers;
  if (name == "mlp" &&
      (numbers || data.input_shape.at(1) != data.input_shape.at(2))) {
    options.shape = data.input_shape;
    return options;
  }
  if (numbers && data.input_shape.size() != 3)
    throw Error(
        cat("[train] ",
            name,
            " takes images, and ",
            data.source,
            " has inputs of ",
            data.input_shape.size() == 1
                ? plural(data.input_shape[0], "number")
                : cat(data.input_shape.size(), " dimensions"),
            "."),
        "Use --model mlp, which takes inputs of any shape.");
  if (data.input_shape.at(1) != data.input_shape.at(2))
    throw Error(
        cat("[train] the images are ",
            data.input_shape[2],
            " x ",
            data.input_shape[1],
            " pixels, and ",
            name,
            " takes square ones."),
        numbers ? "Use --model mlp, or save the arrays as squares."
                : "Set data.image_size.");
  options.image_size = data.input_shape.at(1);
  options.channels = data.input_shape.at(0);
  return options;
}

// The size of dimension 1 of the first output; 0 when there is none.
std::int64_t outputs_of(const graph::Graph& graph) {
  const auto names = graph::tensors_in(graph.outputs.at(0).value);
  if (names.empty()) return 0;
  const auto& sizes = graph.meta(names[0]).sizes;
  return sizes.size() > 1 && sizes[1].fixed() ? sizes[1].value : 0;
}

// The advice on what to change so that inputs of `has` become what the model
// wants.
std::string advice_for(
    const graph::Sizes& wants,
    const std::vector<std::int64_t>& has,
    data::Input input) {
  const bool images = wants.size() == 4 && has.size() == 3;
  const auto differs = [&](std::size_t i) {
    return wants[i + 1].fixed() && wants[i + 1].value != has[i];
  };
  if (images && differs(0))
    return cat(
        "The model wants ",
        plural(wants[1].value, "channel"),
        ", and the images have ",
        has[0],
        ": export the model for ",
        plural(has[0], "channel"),
        ", or convert the images.");
  if (images && wants[2] == wants[3])
    return cat("Set data.image_size = ", wants[2].value, ".");
  if (input == data::Input::tokens && wants.size() == 2)
    return cat("Set data.sequence = ", wants[1].value, ".");
  return "Use a model for such data: mlp takes any shape.";
}

void check_fits(
    const graph::Graph& graph,
    const RunData& data,
    const std::string& name) {
  const auto users = graph.inputs_of(graph::InputKind::kUser);
  if (users.size() != 1)
    throw Error(
        cat("[train] ",
            name,
            " takes ",
            users.size(),
            " inputs, and a batch has one."),
        "Train it from C++ with a train_step of your own.");
  const auto& sizes = graph.meta(users[0]->value).sizes;
  bool fits = sizes.size() == data.input_shape.size() + 1;
  for (std::size_t i = 1; fits && i < sizes.size(); ++i)
    fits = !sizes[i].fixed() || sizes[i].value == data.input_shape[i - 1];
  if (fits) return;
  std::vector<std::string> wants;
  std::vector<std::string> has;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    wants.push_back(graph::size_text(sizes[i]));
  for (const std::int64_t size : data.input_shape)
    has.push_back(cat(size));
  throw Error(
      cat("[train] ",
          name,
          " takes inputs of ",
          join(wants, " x "),
          ", and ",
          data.source,
          " has ",
          join(has, " x "),
          "."),
      advice_for(sizes, data.input_shape, data.info.input));
}

void apply(RunModel& made, graph::Passed passed) {
  made.program = std::move(passed.program);
  made.notes.push_back(std::move(passed.report));
}

// The data's labels are classes of the model unless it is to give back its
// inputs.
bool tells_classes(const config::Config& config, const RunData& data) {
  return data.info.target == data::Target::label &&
      config.train.task != "autoencode";
}

// model.classes against the classes that the data is known to have.
void check_classes(
    const config::Config& config,
    const RunData& data,
    RunModel& made) {
  const auto has = static_cast<std::int64_t>(data.info.classes.size());
  if (!config.model.classes || !tells_classes(config, data) || has == 0) return;
  const std::int64_t asked = *config.model.classes;
  if (asked < has)
    throw Error(
        cat("[train] model.classes = ",
            asked,
            ", and ",
            data.source,
            " has ",
            has,
            " classes."),
        "Leave model.classes out: it follows the data.");
  if (asked > has)
    made.notes.push_back(
        cat("model.classes = ",
            asked,
            " for ",
            has,
            has == 1 ? " class" : " classes",
            ": the last ",
            asked - has,
            " never occur"));
}

bool is_export(const std::string& name) {
  return std::filesystem::path(name).extension() == ".pt2";
}

// A batch that was fixed by the export is freed where that is proven right.
void settle_batch(RunModel& made, const RunData& data) {
  const std::int64_t batch = graph::fixed_batch(made.program->graph);
  const auto advice = graph::fixed_batch_advice(made.program->graph);
  if (!advice) return;
  if (batch == 0) throw Error(cat("[train] ", made.name, ": ", *advice));
  if (auto freed = graph::free_batch(*made.program)) {
    made.program = std::move(*freed);
    made.notes.push_back(
        cat(made.name,
            " was exported for batches of ",
            batch,
            ", and nothing in it depends on that: it takes any"));
    return;
  }
  made.fixed_batch = batch;
  std::string note =
      cat(made.name,
          " was exported for batches of exactly ",
          batch,
          ": train.batch is ",
          batch);
  if (data.train_samples % batch > 0)
    note +=
        cat(", and the last ",
            plural(data.train_samples % batch, "sample"),
            " of each epoch ",
            data.train_samples % batch == 1 ? "is" : "are",
            " left out");
  made.notes.push_back(
      cat(note, " (export it with dynamic_shapes for any batch)"));
}

// The numbers that the first output holds for a sample; 0: not known.
std::int64_t numbers_given(const graph::Graph& graph) {
  const auto names = graph::tensors_in(graph.outputs.at(0).value);
  if (names.empty()) return 0;
  const auto& sizes = graph.meta(names[0]).sizes;
  std::int64_t numbers = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (!sizes[i].fixed()) return 0;
    numbers *= sizes[i].value;
  }
  return numbers;
}

[[noreturn]] void refuse_outputs(
    const RunModel& made,
    std::int64_t has,
    const RunData& data,
    const std::string& wanted) {
  throw Error(
      cat("[train] ",
          made.name,
          " has ",
          plural(has, "output"),
          ", and ",
          data.source,
          " has ",
          wanted,
          "."),
      "Give it a new last layer: model.head = \"new\".");
}

// The outputs that a task with targets compares with them: as many as there
// are classes, or numbers to predict.
void fit_outputs(
    const config::Config& config,
    const RunData& data,
    std::int64_t outputs,
    RunModel& made) {
  const bool classes = tells_classes(config, data);
  const bool numbers = data.info.target == data::Target::numbers &&
      config.train.task != "autoencode";
  const std::int64_t has = numbers ? numbers_given(made.program->graph)
                                   : outputs_of(made.program->graph);
  if ((!classes && !numbers) || has == 0 || has == outputs) return;
  if (config::head_of(config.model) != config::HeadChoice::keep) {
    apply(
        made,
        graph::replace_head(
            *made.program, outputs, static_cast<std::uint64_t>(config.seed)));
    return;
  }
  if (numbers)
    refuse_outputs(
        made, has, data, cat(plural(outputs, "number"), " to predict"));
  if (has < outputs) refuse_outputs(made, has, data, cat(outputs, " classes"));
  made.notes.push_back(
      cat(made.name,
          " has ",
          has,
          " outputs for ",
          outputs,
          " classes: the last ",
          has - outputs,
          " never occur (model.head = \"new\" gives it ",
          outputs,
          ")"));
}

RunModel open_export(
    const config::Config& config,
    const RunData& data,
    std::int64_t outputs) {
  RunModel made;
  made.name = std::filesystem::path(config.model.name).filename().string();
  made.program = graph::read_pt2(config.model.name);
  settle_batch(made, data);
  check_fits(made.program->graph, data, made.name);
  fit_outputs(config, data, outputs, made);
  return made;
}

void freeze_opaque(RunModel& made, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return;
  for (const std::string& pattern : patterns)
    if (pattern == "backbone")
      throw Error(
          cat("[train] ",
              made.name,
              " is TorchScript, which temper does not look into: it cannot "
              "tell the backbone from the head."),
          "Freeze by name, model.freeze = [\"features.*\"], or export the "
          "model with torch.export.");
  made.freeze = patterns;
  made.notes.push_back(
      "TorchScript is frozen as PyTorch does it: BatchNorm's statistics still "
      "move");
}

// All names count, also those that are frozen for now.
void check_rates(const config::Config& config, const graph::Graph& graph) {
  const auto scales = parse_lr_scales(config.optimizer.lr_scale);
  if (scales.empty()) return;
  std::vector<std::string> names;
  for (const graph::Input* input :
       graph.inputs_of(graph::InputKind::kParameter))
    names.push_back(input->target);
  check_lr_scales(scales, names);
}

// Before anything is computed with it.
void check_something_trains(
    const graph::Graph& graph,
    const config::Config& config) {
  const auto parameters = graph.inputs_of(graph::InputKind::kParameter);
  for (const graph::Input* each : parameters)
    if (each->trainable) return;
  throw Error(
      cat("[train] nothing is left to train: model.freeze = [\"",
          join(config.model.freeze, "\", \""),
          "\"] freezes all ",
          parameters.size(),
          " parameters."),
      "Leave some out: model.freeze = \"backbone\" freezes all but the last "
      "layer.");
}

} // namespace

config::Config with_models_batch(config::Config config) {
  if (!is_export(config.model.name) ||
      !std::filesystem::exists(config.model.name))
    return config;
  const graph::Program program = graph::read_pt2(config.model.name);
  const std::int64_t batch = graph::fixed_batch(program.graph);
  if (batch == 0 || graph::free_batch(program)) return config;
  config.train.batch = batch;
  config.train.drop_last = true;
  config.memory.micro_batch = std::nullopt;
  return config;
}

RunModel choose_model(
    const config::Config& asked,
    const RunData& data,
    const WeightsStore& store) {
  const ModelChoice choice = choose_zoo_model(asked, data);
  const std::string& name = choice.name;
  config::Config config = asked;
  config.model.stem = choice.stem;
  config.model.width = choice.width;
  const std::int64_t outputs = outputs_for(config, data);
  const std::filesystem::path path(name);
  RunModel made;
  if (path.extension() == ".pt") {
    made.name = path.filename().string();
    made.torchscript = path;
    made.outputs = outputs;
    if (config.model.bn_group > 0)
      throw Error(
          cat("[train] model.bn_group needs a graph, and ",
              made.name,
              " is TorchScript, which temper does not look into."),
          "Export the model with torch.export, or set model.bn_group = 0.");
    if (!config.model.weights.empty())
      throw Error(
          cat("[train] model.weights needs a graph, and ",
              made.name,
              " is TorchScript, which temper does not look into."),
          "Export the model with torch.export, or leave model.weights out: "
          "the file has weights of its own.");
    freeze_opaque(made, config.model.freeze);
    return made;
  }
  if (path.extension() == ".pt2") {
    made = open_export(config, data, outputs);
  } else {
    made.name = name;
    made.program = model::build(zoo_options(config, data, name, outputs));
    check_fits(made.program->graph, data, name);
    if (choice.narrowed)
      made.notes.push_back(
          cat(name,
              " has ",
              choice.width == 0.5 ? "half" : "a quarter",
              " of its width and a first layer for small images (--model ",
              name,
              " --set model.stem=cifar: the whole, for more time)"));
  }
  check_classes(config, data, made);
  const auto weights =
      start_weights({config, data, name, outputs, kPhotoModel}, store);
  if (!weights.path.empty()) {
    const auto file = weights::read_weights(weights.path);
    weights::LoadOptions options;
    options.new_head =
        config::head_of(config.model) == config::HeadChoice::fresh ||
        weights.other_classes;
    auto loaded =
        weights::load_weights(*made.program, file.weights, file.name, options);
    made.program = std::move(loaded.program);
    made.weights = weights.name;
    made.notes.push_back(cat(loaded.report, weights.note));
  }
  if (!config.model.freeze.empty()) {
    if (made.weights.empty() && !store.later && path.extension() != ".pt2")
      made.notes.push_back(
          "model.freeze keeps weights that are still random: only the rest "
          "learns, on features that mean nothing. Give trained ones with "
          "model.weights");
    FrozenModel frozen = freeze_model(*made.program, config.model.freeze);
    made.unfrozen = std::move(made.program);
    made.program = std::move(frozen.program);
    made.still_norms = std::move(frozen.still_norms);
    made.notes.push_back(std::move(frozen.report));
    check_something_trains(made.program->graph, config);
  }
  check_rates(config, made.program->graph);
  made.outputs = outputs_of(made.program->graph);
  made.norm_group = config.model.bn_group;
  return made;
}

} // namespace temper::train
