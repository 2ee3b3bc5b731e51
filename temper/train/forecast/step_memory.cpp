#include "temper/train/forecast/step_memory.h"

#include <algorithm>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/graph/cost/cost.h"
#include "temper/graph/fuse/fusion.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/passes.h"
#include "temper/machine/device_kind.h"
#include "temper/train/engine/kernel_trial.h"
#include "temper/train/setup/parameter_table.h"

namespace temper::train {
namespace {

using graph::DType;
using graph::Graph;
using graph::Node;
using graph::TensorName;

const graph::Input* only_user_input(const Graph& graph) {
  const auto users = graph.inputs_of(graph::InputKind::kUser);
  return users.empty() ? nullptr : users.front();
}

std::string first_output(const Graph& graph) {
  for (const graph::Output& output : graph.outputs)
    if (output.kind == graph::OutputKind::kUser) {
      const auto names = graph::tensors_in(output.value);
      if (!names.empty()) return names.front();
    }
  return "";
}

// The task's loss as nodes of the graph, so that what it keeps is counted with
// the rest. Its target is the loader's and is made of nothing here.
void add_loss(
    Graph& graph,
    const std::string& output,
    const std::string& loss) {
  const graph::TensorMeta scores = graph.meta(output);
  const auto add = [&](const std::string& op,
                       std::vector<graph::NamedArgument> inputs,
                       const graph::TensorMeta& meta) {
    const std::string name = graph::free_name(graph, "task_loss");
    graph.tensors[name] = meta;
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {TensorName{name}};
    graph.nodes.push_back(std::move(node));
    return name;
  };
  graph::TensorMeta one = scores;
  one.sizes.clear();
  one.strides.clear();
  std::string made;
  if (loss == "cross_entropy")
    made =
        add("aten.cross_entropy_loss.default",
            {{"self", TensorName{output}}, {"reduction", std::int64_t{2}}},
            one);
  else
    made =
        add(loss == "bce" ? "aten.binary_cross_entropy_with_logits.default"
                          : "aten.mse_loss.default",
            {{"self", TensorName{output}}, {"reduction", std::int64_t{2}}},
            one);
  for (graph::Output& each : graph.outputs)
    if (each.kind == graph::OutputKind::kUser) each.value = TensorName{made};
}

// The bytes that counting right answers takes while the model's output is
// there: masks of a byte each, and a copy of the scores for finding what is not
// finite.
std::int64_t counting_bytes(
    const std::string& task,
    const graph::Shape& scores) {
  const std::int64_t values = graph::element_count(scores.sizes);
  constexpr std::int64_t kMasks = 4;
  constexpr std::int64_t kDoubles = 4 * 8; // truth, error and their squares
  const bool labels = task == "classification" || task == "next-token";
  return labels ? values * kMasks + graph::bytes_of(scores) : values * kDoubles;
}

// Tensors of a parameter's size that the optimiser makes on its way, at most.
// On the CPU its kernels make none, but for moments of bf16, which are widened
// and get random bits when they are kept.
std::uint64_t optimizer_copies(
    const config::Config& config,
    const std::string& device) {
  const config::Optimizer& options = config.optimizer;
  const bool narrow = config::moments_of(options) == config::Precision::bf16;
  if (machine::is_cpu(device) && !narrow) return 0;
  const bool decays = options.weight_decay > 0;
  std::uint64_t copies = 0;
  if (options.name == "adam" || options.name == "adamw")
    copies = 5 + (decays ? 1 : 0);
  else if (options.name == "lion")
    copies = 3;
  else if (options.name == "sgd" && options.momentum > 0)
    copies = options.nesterov ? 3 : 2;
  else if (options.name == "sgd")
    copies = decays ? 2 : 1;
  else
    throw Bug("an optimiser whose copies nobody counts: " + options.name);
  return copies + (narrow ? 4 : 0);
}

// BatchNorm's statistics are kept aside during a step, to be put back.
std::uint64_t kept_aside(const Graph& graph, const graph::Program& program) {
  std::uint64_t bytes = 0;
  for (const std::string& target : graph::buffers_written(graph))
    if (const auto found = program.weights.find(target);
        found != program.weights.end())
      bytes += found->second.byte_count;
  return bytes;
}

// The groups that the executor hands to temper's kernels: on a CPU, and without
// BatchNorm that is normalised in groups of samples.
std::vector<graph::Fusion> groups_of(
    const Graph& graph,
    const config::Config& config,
    const StepMemoryOptions& options) {
  if (!options.fused || !machine::is_cpu(options.device)) return {};
  std::vector<graph::Fusion> groups = graph::find_fusions(graph).groups;
  if (config.model.bn_group > 0)
    std::erase_if(groups, [&](const graph::Fusion& group) {
      return std::any_of(
          group.nodes.begin(), group.nodes.end(), [&](std::size_t node) {
            return graph::is_batch_norm(graph.nodes[node]);
          });
    });
  return groups;
}

} // namespace

StepMemory::StepMemory(
    const graph::Program& program,
    const config::Config& config,
    const StepMemoryOptions& options)
    : graph_(graph::switch_mode(program, true).program.graph),
      groups_(groups_of(graph_, config, options)),
      config_(config),
      options_(options),
      scores_(first_output(graph_)) {
  const std::uint64_t trained = bytes_per_parameter(config, true);
  const std::uint64_t weight = bytes_per_parameter(config, false);
  const std::uint64_t average = config.train.ema > 0 ? weight : 0;
  std::set<const std::byte*> counted; // tied ones are one
  for (const graph::Input& input : graph_.inputs) {
    if (input.kind == graph::InputKind::kUser) continue;
    const auto found = program.weights.find(input.target);
    if (found == program.weights.end() ||
        !counted.insert(found->second.bytes.get()).second)
      continue;
    kept_.parameters += found->second.byte_count;
    if (input.kind != graph::InputKind::kParameter) continue;
    const auto count =
        static_cast<std::uint64_t>(graph::element_count(found->second.sizes));
    kept_.average += average * count;
    if (!input.trainable) continue;
    kept_.gradients += weight * count;
    kept_.optimizer += (trained - 2 * weight - average) * count;
    largest_parameter_ = std::max(largest_parameter_, weight * count);
  }
  kept_.parameters += kept_aside(graph_, program);
  if (!scores_.empty()) add_loss(graph_, scores_, options.loss);
}

// Tensors of their own that hold the whole batch. On the CPU images of floats
// stay where the loader put them.
std::uint64_t StepMemory::batch_bytes(
    const graph::Inferred& known,
    int batch,
    int slice) const {
  const graph::Input* input = only_user_input(graph_);
  if (input == nullptr || scores_.empty()) return 0;
  const auto whole = [&](const std::string& value) {
    return static_cast<std::uint64_t>(
        graph::bytes_of(known.tensors.at(value)) / slice * batch);
  };
  const bool mixed = config_.train.mixup > 0 || config_.train.cutmix > 0;
  const bool there = !machine::is_cpu(options_.device);
  std::uint64_t bytes = 0;
  if (there || options_.bytes || mixed) bytes += whole(input->value);
  if (mixed) bytes += whole(scores_);
  if (!there) return bytes;
  constexpr std::uint64_t kLabel = 8;
  if (options_.task == "classification")
    bytes += kLabel * static_cast<std::uint64_t>(batch);
  else
    bytes += whole(options_.task == "next-token" ? input->value : scores_);
  return bytes;
}

// Groups are normalised one by one and put together again.
void StepMemory::add_grouping(
    const graph::Inferred& known,
    int slice,
    std::vector<std::int64_t>& scratch_bytes) const {
  const std::int64_t group = config_.model.bn_group;
  if (group == 0 || slice < 2 * group) return;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
    if (graph::is_batch_norm(graph_.nodes[i]))
      scratch_bytes[i] += graph::bytes_of(
          known.tensors.at(graph::values_made(graph_.nodes[i]).front()));
}

graph::LivenessOptions StepMemory::liveness_options(
    const graph::Inferred& known,
    int slice) const {
  graph::LivenessOptions how;
  const bool cpu = machine::is_cpu(options_.device);
  const auto version = parse_version(options_.libtorch);
  // Attention on the CPU as one kernel that keeps no weights.
  how.fused_attention = cpu && version && *version >= Version{2, 2, 0};
  how.adds_in_place = version && *version >= Version{2, 0, 0};
  how.threads = cpu ? options_.threads : 0;
  how.channels_last = cpu && options_.channels_last;
  how.groups = groups_;
  if (cpu) how.convolution_bytes = options_.convolution_bytes;
  how.scratch_bytes.resize(graph_.nodes.size(), 0);
  if (!scores_.empty())
    how.scratch_bytes.back() =
        counting_bytes(options_.task, known.tensors.at(scores_));
  add_grouping(known, slice, how.scratch_bytes);
  return how;
}

std::uint64_t StepMemory::kernel_bytes(int at_once) const {
  constexpr std::int64_t kMostMacs = 40'000'000'000; // about a second
  constexpr std::int64_t kFewest = 16;
  if (groups_.empty()) return 0;
  const auto one = graph::bind_batch(graph_, 1);
  std::int64_t macs = 1;
  for (const graph::Cost& each :
       graph::costs(graph_, graph::infer(graph_, one), one))
    macs += each.macs;
  const std::int64_t tried =
      std::min<std::int64_t>(at_once, std::max(kFewest, kMostMacs / macs));
  const auto known = graph::infer(graph_, graph::bind_batch(graph_, tried));
  std::set<std::string> constants;
  for (const graph::Input& input : graph_.inputs)
    if (input.kind != graph::InputKind::kParameter || !input.trainable)
      constants.insert(input.value);
  return train::kernel_bytes({groups_, known, constants, options_.threads});
}

StepBytes StepMemory::at(int batch, int at_once) const {
  const int slice = at_once > 0 ? std::min(at_once, batch) : batch;
  const auto symbols = graph::bind_batch(graph_, slice);
  const auto known = graph::infer(graph_, symbols);
  graph::LivenessOptions how = liveness_options(known, slice);
  // The first slice's gradients come one by one; they are there in the others.
  how.keep_gradients = true;
  const auto first = graph::liveness(graph_, known, symbols, how);
  StepBytes peak = kept_;
  const auto without_input = [](const graph::Liveness& life) {
    return static_cast<std::uint64_t>(life.train.bytes - life.input_bytes);
  };
  std::uint64_t moving = without_input(first);
  if (slice < batch) {
    how.keep_gradients = false;
    const auto later = graph::liveness(graph_, known, symbols, how);
    moving = std::max(moving, kept_.gradients + without_input(later));
  }
  peak.batch = batch_bytes(known, batch, slice);
  // The optimiser comes last, when only gradients are there.
  const std::uint64_t updating = kept_.gradients +
      largest_parameter_ * optimizer_copies(config_, options_.device);
  if (updating > moving + peak.batch) {
    moving = updating;
    peak.batch = 0;
  }
  peak.gradients = std::min(kept_.gradients, moving);
  peak.activations = moving - peak.gradients;
  return peak;
}

} // namespace temper::train
