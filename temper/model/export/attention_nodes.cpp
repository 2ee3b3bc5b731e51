#include "temper/model/export/attention_nodes.h"

#include <cmath>
#include <limits>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::model {
namespace {

using graph::Argument;
using graph::NumberName;
using graph::TensorName;

class AttentionSpelling {
 public:
  AttentionSpelling(const graph::Node& node, const graph::Graph& graph)
      : node_(node),
        graph_(graph),
        result_(std::get<TensorName>(node.outputs.at(0)).name) {}

  std::vector<graph::Node> write() {
    const TensorName query = tensor("query");
    TensorName keys = tensor("key");
    TensorName values = tensor("value");
    if (flag("enable_gqa")) {
      keys = repeated(keys, query);
      values = repeated(values, query);
    }
    // Half the scale on each side, as LibTorch does it: large products of half
    // precision would overflow before one division.
    const double scale = number("scale", 1 / std::sqrt(last_size(query)));
    const double half = std::sqrt(std::abs(scale));
    TensorName scores = call(
        "matmul.default",
        {{"self",
          call(
              "mul.Scalar",
              {{"self", query}, {"other", scale < 0 ? -half : half}})},
         {"other",
          call(
              "transpose.int",
              {{"self", call("mul.Scalar", {{"self", keys}, {"other", half}})},
               {"dim0", std::int64_t{-2}},
               {"dim1", std::int64_t{-1}}})}});
    const Argument* mask = node_.find("attn_mask");
    const bool masked =
        mask != nullptr && std::holds_alternative<TensorName>(*mask);
    TensorName nowhere; // rows that may look at nothing
    if (masked) {
      const auto& name = std::get<TensorName>(*mask);
      if (graph_.meta(name.name).dtype == graph::DType::kBool) {
        scores = fill(scores, opposite(name), kNever);
        nowhere = opposite(along_rows("any.dim", name));
      } else {
        scores =
            call("add.Tensor", {{"self", scores}, {"other", Argument(name)}});
        nowhere = along_rows(
            "all.dim", call("isneginf.default", {{"self", Argument(name)}}));
      }
      scores = fill(scores, nowhere, 0);
    } else if (flag("is_causal")) {
      scores = fill(scores, opposite(lower_triangle(query, keys)), kNever);
    }
    TensorName weights =
        call("softmax.int", {{"self", scores}, {"dim", std::int64_t{-1}}});
    if (masked) weights = fill(weights, nowhere, 0);
    const double dropout = number("dropout_p", 0);
    if (dropout > 0)
      weights = call(
          "dropout.default",
          {{"input", weights}, {"p", dropout}, {"train", true}});
    call("matmul.default", {{"self", weights}, {"other", values}});
    nodes_.back().outputs = node_.outputs;
    return std::move(nodes_);
  }

 private:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  using Given = std::vector<std::pair<std::string, Argument>>;

  TensorName call(const std::string& op, const Given& given) {
    const TensorName made{cat(result_, "_part_", nodes_.size())};
    add(op, given).outputs = {made};
    return made;
  }
  graph::Node& add(const std::string& op, const Given& given) {
    graph::Node node;
    node.op = cat("aten.", op);
    for (const auto& [name, value] : given)
      node.inputs.push_back({name, value, false});
    node.module = node_.module;
    node.source = node_.source;
    return nodes_.emplace_back(std::move(node));
  }
  NumberName size(const TensorName& of, std::int64_t dim) {
    const NumberName made{cat(result_, "_part_", nodes_.size())};
    add("sym_size.int", {{"self", of}, {"dim", dim}}).outputs = {made};
    return made;
  }

  TensorName fill(const TensorName& to, const TensorName& where, double value) {
    return call(
        "masked_fill.Scalar",
        {{"self", to}, {"mask", where}, {"value", value}});
  }
  TensorName opposite(const TensorName& of) {
    return call("logical_not.default", {{"self", of}});
  }
  TensorName along_rows(const std::string& op, const TensorName& of) {
    return call(
        op, {{"self", of}, {"dim", std::int64_t{-1}}, {"keepdim", true}});
  }
  // Its device is the query's, wherever the model is moved.
  TensorName lower_triangle(const TensorName& query, const TensorName& keys) {
    const std::vector<graph::IntOrName> sizes{size(query, -2), size(keys, -2)};
    const auto ones = call(
        "new_ones.default",
        {{"self", query}, {"size", sizes}, {"dtype", graph::DType::kBool}});
    return call("tril.default", {{"self", ones}});
  }
  TensorName repeated(const TensorName& of, const TensorName& query) {
    const auto heads = [&](const TensorName& name) {
      const auto& sizes = graph_.meta(name.name).sizes;
      return sizes.size() < 3 ? 0 : sizes[sizes.size() - 3].value;
    };
    const auto times = heads(of) > 0 ? heads(query) / heads(of) : 1;
    return call(
        "repeat_interleave.self_int",
        {{"self", of}, {"repeats", times}, {"dim", std::int64_t{-3}}});
  }

  TensorName tensor(const std::string& name) const {
    const Argument* found = node_.find(name);
    if (found == nullptr || !std::holds_alternative<TensorName>(*found))
      throw Error(cat(
          "[model] ", node_.op, " of ", node_.module, " has no ", name, "."));
    return std::get<TensorName>(*found);
  }
  bool flag(const std::string& name) const {
    const Argument* found = node_.find(name);
    const bool* value = found == nullptr ? nullptr : std::get_if<bool>(found);
    return value != nullptr && *value;
  }
  double number(const std::string& name, double otherwise) const {
    const Argument* found = node_.find(name);
    if (found == nullptr) return otherwise;
    if (const auto* real = std::get_if<double>(found)) return *real;
    if (const auto* whole = std::get_if<std::int64_t>(found))
      return static_cast<double>(*whole);
    return otherwise;
  }
  double last_size(const TensorName& of) const {
    return static_cast<double>(graph_.meta(of.name).sizes.back().value);
  }

  const graph::Node& node_;
  const graph::Graph& graph_;
  std::string result_;
  std::vector<graph::Node> nodes_;
};

} // namespace

std::vector<graph::Node> attention_nodes(
    const graph::Node& node,
    const graph::Graph& graph) {
  return AttentionSpelling(node, graph).write();
}

} // namespace temper::model
