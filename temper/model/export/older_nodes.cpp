#include "temper/model/export/older_nodes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "temper/base/text.h"
#include "temper/model/export/attention_nodes.h"

namespace temper::model {
namespace {

using graph::Argument;
using graph::NamedArgument;
using graph::Node;
using graph::TensorName;

class Spelling {
 public:
  Spelling(const Node& node, const graph::Graph& graph)
      : node_(node), graph_(graph) {}

  TensorName tensor(const char* name) const {
    return std::get<TensorName>(*node_.find(name));
  }
  bool given(const char* name) const {
    const Argument* found = node_.find(name);
    return found != nullptr && !std::holds_alternative<graph::None>(*found);
  }
  Argument argument(const char* name, const Argument& otherwise) const {
    const Argument* found = node_.find(name);
    return found == nullptr ? otherwise : *found;
  }
  std::int64_t rank(const TensorName& value) const {
    return static_cast<std::int64_t>(graph_.meta(value.name).sizes.size());
  }
  graph::DType type(const TensorName& value) const {
    return graph_.meta(value.name).dtype;
  }
  std::string result(std::size_t i = 0) const {
    const auto* name = i < node_.outputs.size()
        ? std::get_if<TensorName>(&node_.outputs[i])
        : nullptr;
    return name == nullptr ? "" : name->name;
  }

  // Named after the node's result while it is not that itself.
  TensorName call(
      const char* op,
      std::vector<NamedArgument> inputs,
      std::vector<std::string> results = {}) {
    Node made;
    made.op = cat("aten.", op);
    made.inputs = std::move(inputs);
    made.module = node_.module;
    made.source = node_.source;
    if (results.empty()) results = {cat(result(), "_part_", made_.size())};
    for (const std::string& name : results)
      if (name.empty())
        made.outputs.emplace_back(graph::None{});
      else
        made.outputs.emplace_back(TensorName{name});
    made_.push_back(std::move(made));
    return TensorName{results[0]};
  }
  // The last value becomes the node's result.
  std::vector<Node> take() {
    if (!made_.empty() && made_.back().outputs.size() == 1)
      made_.back().outputs = {TensorName{result()}};
    return std::move(made_);
  }

  const Node& node() const {
    return node_;
  }

 private:
  const Node& node_;
  const graph::Graph& graph_;
  std::vector<Node> made_;
};

std::size_t length_of(const Argument& list) {
  if (const auto* ints = std::get_if<graph::Ints>(&list)) return ints->size();
  if (const auto* mixed = std::get_if<std::vector<graph::IntOrName>>(&list))
    return mixed->size();
  return 1;
}

void spell_rms_norm(Spelling& s) {
  const TensorName x = s.tensor("input");
  graph::Ints dims;
  for (std::size_t i = 0; i < length_of(*s.node().find("normalized_shape"));
       ++i)
    dims.push_back(-1 - static_cast<std::int64_t>(i));
  // Without a number: the smallest step of the type, as PyTorch takes it.
  const double small = s.type(x) == graph::DType::kFloat64
      ? std::numeric_limits<double>::epsilon()
      : static_cast<double>(std::numeric_limits<float>::epsilon());
  const TensorName squares =
      s.call("pow.Tensor_Scalar", {{"self", x}, {"exponent", std::int64_t{2}}});
  const TensorName mean =
      s.call("mean.dim", {{"self", squares}, {"dim", dims}, {"keepdim", true}});
  const TensorName shifted = s.call(
      "add.Scalar",
      {{"self", mean},
       {"other", s.given("eps") ? s.argument("eps", small) : Argument(small)}});
  const TensorName scale = s.call("rsqrt.default", {{"self", shifted}});
  const TensorName normed =
      s.call("mul.Tensor", {{"self", x}, {"other", scale}});
  if (s.given("weight"))
    s.call("mul.Tensor", {{"self", normed}, {"other", s.tensor("weight")}});
}

// From the last dimension on, so that the others keep their places.
graph::Ints from_the_back(const Spelling& s) {
  const std::int64_t rank = s.rank(s.tensor("self"));
  graph::Ints dims;
  if (s.given("dim"))
    for (const std::int64_t dim : std::get<graph::Ints>(*s.node().find("dim")))
      dims.push_back(dim < 0 ? dim + rank : dim);
  else
    for (std::int64_t i = 0; i < rank; ++i)
      dims.push_back(i);
  std::sort(dims.rbegin(), dims.rend());
  return dims;
}

void spell_squeeze(Spelling& s) {
  TensorName value = s.tensor("self");
  for (const std::int64_t dim : from_the_back(s))
    value = s.call("squeeze.dim", {{"self", value}, {"dim", dim}});
}

void one_by_one(Spelling& s, const char* op) {
  TensorName value = s.tensor("self");
  for (const std::int64_t dim : from_the_back(s))
    value = s.call(
        op,
        {{"self", value},
         {"dim", dim},
         {"keepdim", s.argument("keepdim", false)}});
}

void spell_safe_softmax(Spelling& s) {
  const TensorName x = s.tensor("self");
  const Argument dim = s.argument("dim", std::int64_t{-1});
  const TensorName never = s.call("isneginf.default", {{"self", x}});
  const TensorName rows =
      s.call("all.dim", {{"self", never}, {"dim", dim}, {"keepdim", true}});
  const auto without = [&](const TensorName& value) {
    return s.call(
        "masked_fill.Scalar",
        {{"self", value}, {"mask", rows}, {"value", 0.0}});
  };
  const TensorName filled = without(x);
  without(s.call(
      "softmax.int",
      {{"self", filled},
       {"dim", dim},
       {"dtype", s.argument("dtype", graph::None{})}}));
}

void spell_index(Spelling& s) {
  s.call("index.Tensor", s.node().inputs);
}

// Statistics that are handed out are copies; the model's own are left alone.
void spell_batch_norm(Spelling& s) {
  const bool hands_out = contains(s.node().op, "functional");
  const auto statistics = [&](const char* name, std::size_t i) -> Argument {
    if (!s.given(name)) return graph::None{};
    if (!hands_out) return s.tensor(name);
    return s.call("clone.default", {{"self", s.tensor(name)}}, {s.result(i)});
  };
  const Argument mean = statistics("running_mean", 3);
  const Argument var = statistics("running_var", 4);
  s.call(
      "native_batch_norm.default",
      {{"input", s.tensor("input")},
       {"weight", s.argument("weight", graph::None{})},
       {"bias", s.argument("bias", graph::None{})},
       {"running_mean", mean},
       {"running_var", var},
       {"training", s.argument("training", false)},
       {"momentum", s.argument("momentum", 0.1)},
       {"eps", s.argument("eps", 1e-5)}},
      {s.result(0), s.result(1), s.result(2)});
}

using Spell = void (*)(Spelling&);

const std::map<std::string, Spell>& spellings() {
  static const std::map<std::string, Spell> all{
      {"aten._native_batch_norm_legit.default", spell_batch_norm},
      {"aten._native_batch_norm_legit.no_stats", spell_batch_norm},
      {"aten._native_batch_norm_legit_functional.default", spell_batch_norm},
      {"aten._native_batch_norm_legit_no_training.default", spell_batch_norm},
      {"aten._safe_softmax.default", spell_safe_softmax},
      {"aten._unsafe_index.Tensor", spell_index},
      {"aten.all.dims", [](Spelling& s) { one_by_one(s, "all.dim"); }},
      {"aten.any.dims", [](Spelling& s) { one_by_one(s, "any.dim"); }},
      {"aten.rms_norm.default", spell_rms_norm},
      {"aten.squeeze.dims", spell_squeeze},
  };
  return all;
}

constexpr const char* kAttention = "aten.scaled_dot_product_attention.default";

} // namespace

std::vector<Node> older_nodes(const Node& node, const graph::Graph& graph) {
  if (node.op == kAttention) return attention_nodes(node, graph);
  const auto found = spellings().find(node.op);
  if (found == spellings().end()) return {};
  Spelling spelling(node, graph);
  found->second(spelling);
  return spelling.take();
}

std::vector<std::string> operators_with_older_nodes() {
  std::vector<std::string> names{kAttention};
  for (const auto& [name, spell] : spellings())
    names.push_back(name);
  return names;
}

} // namespace temper::model
