#include "temper/model/executor/executor.h"

#include <ATen/core/grad_mode.h>

#include <array>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"
#include "temper/libtorch/onednn.h"
#include "temper/model/executor/executor_run.h"
#include "temper/model/executor/grouped_norm.h"
#include "temper/model/module/tensors.h"

namespace temper::model {
namespace {

at::ScalarType main_floating_type(const graph::Program& program) {
  for (const auto& input : program.graph.inputs)
    if (input.kind == graph::InputKind::kParameter) {
      const auto type = program.graph.meta(input.value).dtype;
      if (graph::is_floating(type)) return scalar_type_of(type);
    }
  return at::kFloat;
}

// The facts that tell two tensors of a file apart.
using Bytes =
    std::tuple<const std::byte*, graph::DType, std::vector<std::int64_t>>;

at::Tensor placed(const at::Tensor& tensor, const TargetDevice& place) {
  const bool follows = at::isFloatingType(tensor.scalar_type());
  return tensor.to(
      place.device, follows ? place.floating : tensor.scalar_type());
}

// The batch that the model was exported for; 0 when it takes any, or does not
// give one row a sample.
std::int64_t batch_of_rows(const graph::Graph& graph) {
  const std::int64_t batch = graph::fixed_batch(graph);
  for (const graph::Output& output : graph.outputs) {
    if (output.kind != graph::OutputKind::kUser) continue;
    for (const std::string& name : graph::tensors_in(output.value)) {
      const auto& sizes = graph.meta(name).sizes;
      if (sizes.empty() || sizes[0].value != batch) return 0;
    }
  }
  return batch;
}

bool has_other_batch(
    const std::vector<at::Tensor>& inputs,
    std::int64_t batch) {
  if (inputs.empty() || inputs[0].dim() == 0 || inputs[0].size(0) == 0)
    return false;
  for (const at::Tensor& input : inputs)
    if (input.dim() == 0 || input.size(0) != inputs[0].size(0)) return false;
  return inputs[0].size(0) != batch;
}

} // namespace

struct GraphModule::Body {
  graph::Graph as_it_came;
  std::array<graph::Graph, 2> graphs; // eval, training
  std::array<std::shared_ptr<const CompiledGraph>, 2> compiled;
  std::array<std::vector<at::Tensor>, 2> frames; // weights in their slots
  std::map<std::string, at::Tensor> weights; // tied ones share one tensor
  std::unique_ptr<GroupedNorms> norms; // null: over all that is there
  PrepareOptions options;
  TargetDevice place;
  SharedHooks hooks;
  bool training = true;
  std::int64_t fixed_batch = 0; // 0: any

  void read(const graph::Program& program) {
    std::map<Bytes, at::Tensor> parameters;
    std::map<Bytes, at::Tensor> buffers;
    for (const auto& input : program.graph.inputs) {
      if (input.kind == graph::InputKind::kUser) continue;
      const auto data = program.weights.find(input.target);
      if (data == program.weights.end())
        throw Error(cat("[model] ", input.target, " has no weights."));
      if (weights.count(input.target) > 0) continue;
      const bool parameter = input.kind == graph::InputKind::kParameter;
      if (!parameter && input.kind != graph::InputKind::kBuffer) {
        weights[input.target] = tensor_of(data->second);
        continue;
      }
      const Bytes bytes{
          data->second.bytes.get(), data->second.dtype, data->second.sizes};
      auto& tensor = parameter ? parameters[bytes] : buffers[bytes];
      if (!tensor.defined() || data->second.byte_count == 0)
        tensor = tensor_of(data->second);
      weights[input.target] = tensor;
    }
    mark_trainable();
  }

  void mark_trainable() {
    for (const auto& input : as_it_came.inputs)
      if (input.kind == graph::InputKind::kParameter) {
        auto& tensor = weights.at(input.target);
        tensor.set_requires_grad(
            input.trainable && at::isFloatingType(tensor.scalar_type()));
      }
  }

  void prepare_both() {
    for (const std::size_t mode : {0U, 1U})
      compiled[mode] = prepare(graphs[mode], place, options);
    fill_frames();
  }

  void fill_frames() {
    for (const std::size_t mode : {0U, 1U}) {
      Frame frame = empty_frame(*compiled[mode]);
      for (const auto& [slot, target] : compiled[mode]->weights)
        at_slot(frame, slot) = weights.at(target);
      frames[mode] = std::move(frame.tensors);
    }
  }

  // Plans follow from where and in which type they run, frames from the
  // weights: what stays the same is not made again.
  void move(const TargetDevice& to) {
    bool moved_any = false;
    std::map<c10::TensorImpl*, at::Tensor> moved;
    for (auto& [target, tensor] : weights) {
      auto& fresh = moved[tensor.unsafeGetTensorImpl()];
      if (!fresh.defined()) {
        const at::Tensor there = placed(tensor.detach(), to);
        // Unmoved, it stays what optimisers know.
        const bool stays = there.is_alias_of(tensor);
        fresh = stays ? tensor : there;
        moved_any = moved_any || !stays;
      }
    }
    if (!moved_any && to == place) return;
    for (auto& [target, tensor] : weights)
      tensor = moved.at(tensor.unsafeGetTensorImpl());
    mark_trainable();
    if (to == place) {
      fill_frames();
      return;
    }
    place = to;
    prepare_both();
  }

  std::vector<NamedTensor> named(
      std::initializer_list<graph::InputKind> kinds) const {
    std::vector<NamedTensor> found;
    std::map<c10::TensorImpl*, bool> seen;
    for (const auto& input : as_it_came.inputs) {
      if (std::find(kinds.begin(), kinds.end(), input.kind) == kinds.end())
        continue;
      const auto& tensor = weights.at(input.target);
      if (!std::exchange(seen[tensor.unsafeGetTensorImpl()], true))
        found.push_back({input.target, tensor, tensor.requires_grad()});
    }
    return found;
  }

  // Graphs without in-place operators say what a buffer becomes.
  void change_buffers(const CompiledGraph& compiled, const Frame& frame) {
    const at::NoGradGuard no_grad;
    for (const auto& [target, slot] : compiled.changed) {
      at::Tensor& buffer = weights.at(target);
      const at::Tensor& value = at_slot(frame, slot);
      if (!value.is_same(buffer)) buffer.copy_(value);
    }
  }
};

GraphModule::GraphModule(const graph::Program& program, ExecutorOptions options)
    : body_(std::make_unique<Body>()) {
  libtorch::keep_onednn_from_tiles();
  body_->as_it_came = program.graph;
  body_->fixed_batch = batch_of_rows(program.graph);
  graph::Program training = graph::switch_mode(program, true).program;
  if (!options.still_norms.empty())
    training = graph::freeze_statistics(training, options.still_norms).program;
  body_->graphs = {
      graph::switch_mode(program, false).program.graph, training.graph};
  for (auto& [op, maker] : options.kernels)
    body_->options.kernels.emplace(op, std::move(maker));
  if (options.norm_group > 0) {
    body_->norms =
        std::make_unique<GroupedNorms>(options.norm_group, options.fuse);
    body_->options.kernels.merge(body_->norms->makers());
  }
  body_->options.direct = options.direct;
  body_->options.fuse = options.fuse;
  body_->place.exported = main_floating_type(program);
  body_->place.floating = body_->place.exported;
  body_->read(program);
  body_->prepare_both();
}

GraphModule::~GraphModule() = default;

// A model that was exported for one batch is used with any: what is missing is
// made up of its last sample, and what comes of that is dropped. In training it
// would count.
std::vector<at::Tensor> GraphModule::forward_in_batches(
    const std::vector<at::Tensor>& inputs) {
  const std::int64_t batch = body_->fixed_batch;
  const std::int64_t samples = inputs.at(0).size(0);
  std::vector<std::vector<at::Tensor>> parts;
  for (std::int64_t begin = 0; begin < samples; begin += batch) {
    const std::int64_t count = std::min(batch, samples - begin);
    std::vector<at::Tensor> part;
    for (const at::Tensor& input : inputs) {
      const at::Tensor rows = input.narrow(0, begin, count);
      auto sizes = input.sizes().vec();
      sizes[0] = batch - count;
      part.push_back(
          count == batch
              ? rows
              : at::cat({rows, rows.narrow(0, count - 1, 1).expand(sizes)}));
    }
    std::vector<at::Tensor> results = forward_all(part);
    parts.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      parts[i].push_back(results[i].narrow(0, 0, count));
  }
  std::vector<at::Tensor> whole;
  for (const auto& part : parts)
    whole.push_back(part.size() == 1 ? part[0] : at::cat(part));
  return whole;
}

std::vector<at::Tensor> GraphModule::forward_all(
    const std::vector<at::Tensor>& inputs) {
  if (body_->fixed_batch > 0 && !body_->training &&
      has_other_batch(inputs, body_->fixed_batch))
    return forward_in_batches(inputs);
  const std::size_t mode = body_->training ? 1 : 0;
  const auto compiled = body_->compiled[mode];
  Frame frame;
  frame.tensors = body_->frames[mode];
  frame.numbers.resize(static_cast<std::size_t>(compiled->number_count));
  place_inputs(*compiled, inputs, frame);
  std::size_t next = 0;
  for (const auto& segment : compiled->segments) {
    run_steps(*compiled, next, segment.begin, frame, body_->hooks);
    run_segment(compiled, segment, frame, body_->hooks);
    next = segment.end;
  }
  run_steps(*compiled, next, compiled->steps.size(), frame, body_->hooks);
  body_->change_buffers(*compiled, frame);
  std::vector<at::Tensor> results;
  for (const int slot : compiled->outputs)
    results.push_back(at_slot(frame, slot));
  return results;
}

at::Tensor GraphModule::forward(const std::vector<at::Tensor>& inputs) {
  return forward_all(inputs).front();
}

std::vector<NamedTensor> GraphModule::parameters() const {
  return body_->named({graph::InputKind::kParameter});
}

std::vector<NamedTensor> GraphModule::buffers() const {
  return body_->named({graph::InputKind::kBuffer});
}

void GraphModule::set_training(bool training) {
  body_->training = training;
}

bool GraphModule::training() const {
  return body_->training;
}

void GraphModule::to(const at::Device& device) {
  TargetDevice place = body_->place;
  place.device = device;
  body_->move(place);
}

void GraphModule::to(at::ScalarType floating_type) {
  if (!at::isFloatingType(floating_type))
    throw Error(
        cat("[model] a model cannot compute in ",
            c10::toString(floating_type),
            ": only floating types have gradients."));
  TargetDevice place = body_->place;
  place.floating = floating_type;
  body_->move(place);
}

void GraphModule::begin_update() {
  if (body_->norms != nullptr) body_->norms->begin(buffers());
}

void GraphModule::end_update() {
  if (body_->norms != nullptr) body_->norms->end();
}

const graph::Graph* GraphModule::graph() const {
  return &body_->compiled[body_->training ? 1 : 0]->graph;
}

at::Tensor GraphModule::tensor(const std::string& target) const {
  const auto found = body_->weights.find(target);
  if (found == body_->weights.end())
    throw Error(cat("[model] the model has no tensor named ", target, "."));
  return found->second;
}

graph::Program GraphModule::program() const {
  graph::Program program{body_->as_it_came, {}};
  std::map<c10::TensorImpl*, graph::TensorData> copied; // tied ones stay tied
  for (const auto& [target, tensor] : body_->weights) {
    auto& data = copied[tensor.unsafeGetTensorImpl()];
    if (data.sizes.empty() && data.bytes == nullptr) data = data_of(tensor);
    program.weights[target] = data;
  }
  return program;
}

void GraphModule::set_hooks(NodeHooks hooks) {
  body_->hooks = hooks.before || hooks.after
      ? std::make_shared<const NodeHooks>(std::move(hooks))
      : nullptr;
}

} // namespace temper::model
