// A batch that was fixed by the export and that nothing in the graph depends
// on. The proof: by the operators' own rules every shape follows from the
// inputs for other batches, too, as a multiple of the batch or without it; no
// node creates, views or multiplies with the number of the example's batch; and
// every result has one row a sample.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "temper/base/error.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/operator.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

// Inputs by the new batch, weights as they are.
Inferred inputs_for(const Graph& graph, std::int64_t batch) {
  Inferred known;
  for (const Input& input : graph.inputs) {
    const TensorMeta& meta = graph.meta(input.value);
    Shape shape{meta.dtype, {}};
    for (const Size& size : meta.sizes)
      shape.sizes.push_back(size.value);
    if (input.kind == InputKind::kUser) shape.sizes.at(0) = batch;
    known.tensors[input.value] = std::move(shape);
  }
  return known;
}

std::optional<Inferred> inferred_for(const Graph& graph, std::int64_t batch) {
  try {
    Inferred known = inputs_for(graph, batch);
    for (const Node& node : graph.nodes)
      if (!infer_node(node, known)) return std::nullopt;
    return known;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool holds(const std::vector<std::int64_t>& numbers, std::int64_t batch) {
  return std::ranges::find(numbers, batch) != numbers.end();
}

constexpr double kAll = 1e18; // how "to the end" is written

// Sizes that a node was told: the batch among them was a number in Python.
bool names_sizes(const Node& node, std::int64_t batch) {
  const Operator* page = find_operator(node);
  const ToldSizes told = page == nullptr ? ToldSizes::kNone : page->told;
  if (told == ToldSizes::kNone) return false;
  if (told == ToldSizes::kPart) {
    const NodeArguments arguments(node);
    // A slice of all that is there is no part.
    if (page->dimensions == Dimensions::kSliced &&
        arguments.real("start", 0) == 0 && arguments.real("end", kAll) >= kAll)
      return false;
    // Along other dimensions than the first, a part is no part of the batch.
    return arguments.real(
               arguments.given("dimension") ? "dimension" : "dim", 0) == 0;
  }
  const bool view = told == ToldSizes::kViewed;
  for (const NamedArgument& each : node.inputs) {
    if (const auto* sizes = std::get_if<Ints>(&each.value))
      if (view ? !sizes->empty() && sizes->front() == batch
               : holds(*sizes, batch))
        return true;
    if (const auto* size = std::get_if<std::int64_t>(&each.value))
      if (!view && each.name != "dim" && *size == batch) return true;
  }
  return false;
}

// "x.sum(0) / len(x)" has the number of the batch in it, or one made of it.
bool computes_with(const Graph& graph, const Node& node, std::int64_t batch) {
  const Operator* page = find_operator(node);
  if (page == nullptr || !page->arithmetic) return false;
  // A counter of batches counts by one, whatever they hold.
  const auto subject = graph.tensors.find(NodeArguments(node).subject());
  if (subject != graph.tensors.end() && subject->second.sizes.empty() &&
      !is_floating(subject->second.dtype))
    return false;
  // One more or one less is said everywhere.
  const auto name = op_name(node.op).name;
  if (batch == 1 && (name == "add" || name == "sub" || name == "rsub"))
    return false;
  const auto size = static_cast<double>(batch);
  const double forms[] = {
      size,
      size - 1,
      std::sqrt(size),
      1 / size,
      1 / (size - 1),
      1 / std::sqrt(size),
      std::log(size)};
  const auto is_made_of_it = [&](double value) {
    return std::ranges::any_of(forms, [&](double made) {
      return made != 0 && std::abs(value - made) <= 1e-6 * std::abs(made);
    });
  };
  for (const NamedArgument& each : node.inputs) {
    if (each.name == "self") continue;
    if (const auto* whole = std::get_if<std::int64_t>(&each.value))
      if (is_made_of_it(static_cast<double>(*whole))) return true;
    if (const auto* real = std::get_if<double>(&each.value))
      if (is_made_of_it(*real)) return true;
  }
  return false;
}

// Everything of shape `at` as a line through the batches; no value when one is
// no such line.
class Lines {
 public:
  Lines(const Graph& graph, std::int64_t batch)
      : batch_(batch),
        here_(inferred_for(graph, batch)),
        next_(inferred_for(graph, batch + 1)),
        far_(inferred_for(graph, 2 * batch + 3)) {}

  bool known() const {
    return here_ && next_ && far_;
  }

  std::optional<Size>
  size(const std::string& value, std::size_t i, const Size& declared) const {
    const auto at = [&](const Inferred& world) {
      const auto found = world.tensors.find(value);
      return found == world.tensors.end() || found->second.sizes.size() <= i
          ? std::int64_t{-1}
          : found->second.sizes[i];
    };
    const std::int64_t here = at(*here_);
    const std::int64_t scale = at(*next_) - here;
    if (here != declared.value || here < 0 || scale < 0 ||
        at(*far_) != here + scale * (batch_ + 3))
      return std::nullopt;
    return linear_size("batch", batch_, scale, here - scale * batch_);
  }

 private:
  std::int64_t batch_;
  std::optional<Inferred> here_;
  std::optional<Inferred> next_;
  std::optional<Inferred> far_;
};

// The batch that all inputs have; 0 when they have none in common, or any.
std::int64_t common_batch(const Graph& graph) {
  std::int64_t batch = 0;
  for (const Input* input : graph.inputs_of(InputKind::kUser)) {
    const Sizes& sizes = graph.meta(input->value).sizes;
    for (const Size& size : sizes)
      if (!size.fixed()) return 0;
    if (sizes.empty() || (batch != 0 && sizes[0].value != batch)) return 0;
    batch = sizes[0].value;
  }
  return batch;
}

bool is_one_row_a_sample(const Graph& graph, const Size& batch) {
  for (const Output& output : graph.outputs) {
    if (output.kind != OutputKind::kUser) continue;
    for (const std::string& name : tensors_in(output.value)) {
      const Sizes& sizes = graph.meta(name).sizes;
      if (sizes.empty() || !(sizes[0] == batch)) return false;
    }
  }
  return true;
}

// Strides of a value in which the batch is not the first dimension.
void follow_batch(TensorMeta& meta, std::int64_t batch) {
  bool inside = false;
  std::int64_t step = 1;
  for (std::size_t i = meta.sizes.size(); i-- > 0;) {
    Size& stride = meta.strides[i];
    if (stride.value != step) return; // not in order: the exporter's
    if (inside && step % batch == 0)
      stride = linear_size("batch", batch, step / batch, 0);
    inside = inside || !meta.sizes[i].fixed();
    step *= std::max<std::int64_t>(meta.sizes[i].value, 1);
  }
}

} // namespace

std::int64_t fixed_batch(const Graph& graph) {
  return common_batch(graph);
}

std::optional<Program> free_batch(const Program& program) {
  const std::int64_t batch = common_batch(program.graph);
  if (batch < 1) return std::nullopt;
  for (const Node& node : program.graph.nodes)
    if (names_sizes(node, batch) || computes_with(program.graph, node, batch))
      return std::nullopt;
  const Lines lines(program.graph, batch);
  if (!lines.known()) return std::nullopt;
  Program made = program;
  for (auto& [name, meta] : made.graph.tensors)
    for (std::size_t i = 0; i < meta.sizes.size(); ++i) {
      const auto size = lines.size(name, i, meta.sizes[i]);
      if (!size) return std::nullopt;
      meta.sizes[i] = *size;
    }
  for (auto& [name, meta] : made.graph.tensors)
    follow_batch(meta, batch);
  if (!is_one_row_a_sample(made.graph, linear_size("batch", batch, 1, 0)))
    return std::nullopt;
  made.graph.symbols["batch"] = {1, std::nullopt};
  return made;
}

} // namespace temper::graph
