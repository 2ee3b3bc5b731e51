#include "temper/graph/cost/saved.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "temper/graph/cost/saved_context.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {
namespace {

// Their results depend on no value of their input.
bool cuts_gradient(std::string_view name) {
  for (const char* each :
       {"detach",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "rand_like",
        "randn_like",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "bernoulli",
        "sign",
        "round",
        "floor",
        "ceil"})
    if (name == each) return true;
  return false;
}

using SaveRuleOfName =
    std::unordered_map<std::string_view, void (*)(SavedContext&)>;

const SaveRuleOfName& save_rules_by_name() {
  static const SaveRuleOfName all = [] {
    SaveRuleOfName table;
    for (const auto& rule : save_rules())
      table.emplace(rule.name, rule.apply);
    return table;
  }();
  return all;
}

} // namespace

std::set<std::string> values_with_gradient(
    const Graph& graph,
    const Inferred& known) {
  std::set<std::string> reached;
  const auto floating = [&](const std::string& value) {
    const auto shape = known.tensors.find(value);
    return shape != known.tensors.end() && is_floating(shape->second.dtype);
  };
  for (const auto& input : graph.inputs)
    if (input.kind == InputKind::kParameter && input.trainable &&
        floating(input.value))
      reached.insert(input.value);
  for (const auto& node : graph.nodes) {
    if (cuts_gradient(op_name(node.op).name)) continue;
    const auto read = values_read(node);
    if (std::none_of(read.begin(), read.end(), [&](const auto& value) {
          return reached.count(value) > 0;
        }))
      continue;
    for (const auto& made : values_made(node))
      if (floating(made)) reached.insert(made);
  }
  return reached;
}

Saved saved_by(
    const Node& node,
    const Inferred& known,
    const StorageMap& places,
    const std::set<std::string>& with_gradient,
    bool fused_attention) {
  const auto made = values_made(node);
  if (std::none_of(made.begin(), made.end(), [&](const auto& value) {
        return with_gradient.count(value) > 0;
      }))
    return {};
  const auto rule = save_rules_by_name().find(op_name(node.op).name);
  if (rule == save_rules_by_name().end()) return {};
  SavedContext saver(node, known, places, with_gradient, fused_attention);
  rule->second(saver);
  return saver.saved();
}

bool SavedContext::wanted(const char* name) const {
  const Argument* argument = node().find(name);
  if (argument == nullptr) return false;
  const auto names = tensors_in(*argument);
  return std::any_of(names.begin(), names.end(), [&](const auto& value) {
    return with_gradient_.count(value) > 0;
  });
}

const Shape& SavedContext::result(std::size_t index) const {
  return known_.tensors.at(values_made(node()).at(index));
}

void SavedContext::keep(const char* name) {
  const Argument* argument = node().find(name);
  if (argument == nullptr) return;
  for (auto& value : tensors_in(*argument))
    saved_.values.push_back(std::move(value));
}

void SavedContext::keep_input() {
  if (op_name(node().op).in_place) {
    keep_bytes(bytes_of(first_tensor()));
    return;
  }
  for (const auto& input : node().inputs)
    if (const auto* tensor = std::get_if<TensorName>(&input.value)) {
      saved_.values.push_back(tensor->name);
      return;
    }
}

void SavedContext::keep_result(std::size_t index) {
  const auto made = values_made(node());
  if (index < made.size()) saved_.values.push_back(made[index]);
}

void SavedContext::keep_bytes(std::int64_t bytes) {
  saved_.extra_bytes = plus(saved_.extra_bytes, bytes);
}

void SavedContext::keep_operand(const char* name, const Ints& batch) {
  const auto* tensor = std::get_if<TensorName>(node().find(name));
  if (tensor == nullptr) return;
  const Shape& shape = known_.tensors.at(tensor->name);
  const StorageView& lay = places_.at(tensor->name);
  const auto rank = shape.sizes.size();
  Ints stretched = batch;
  Ints strides(batch.size(), 0);
  for (std::size_t i = std::min<std::size_t>(rank, 2); i > 0; --i) {
    stretched.push_back(shape.sizes[rank - i]);
    strides.push_back(lay.strides[rank - i]);
  }
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto place = batch.size() - (rank - 2) + i;
    if (shape.sizes[i] == batch[place]) strides[place] = lay.strides[i];
  }
  Ints merged{element_count(batch)};
  merged.insert(
      merged.end(),
      stretched.begin() + static_cast<std::ptrdiff_t>(batch.size()),
      stretched.end());
  if (viewed(stretched, strides, merged))
    saved_.values.push_back(tensor->name);
  else
    keep_bytes(bytes_of(Shape{shape.dtype, stretched}));
}

} // namespace temper::graph
