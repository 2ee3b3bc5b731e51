#include "temper/graph/pass/head_shapes.h"

#include <algorithm>
#include <map>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/operator.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/resize.h"

namespace temper::graph {
namespace {

constexpr std::size_t kGone = static_cast<std::size_t>(-1);

[[noreturn]] void refuse_head_node(const Node& node) {
  throw Error(
      cat("[graph] cannot replace the head: temper does not know how the "
          "result of ",
          describe(node),
          " follows the number of classes."),
      "Export the model without what comes after its last layer.");
}

std::int64_t whole_number(const Node& node, const char* name, int otherwise) {
  return static_cast<std::int64_t>(NodeArguments(node).real(name, otherwise));
}

std::size_t wrapped(std::int64_t dim, std::size_t rank) {
  return static_cast<std::size_t>(
      dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
}

std::int64_t product_from(const Sizes& sizes, std::size_t from) {
  std::int64_t result = 1;
  for (std::size_t i = from; i < sizes.size(); ++i)
    result *= sizes[i].value;
  return result;
}

// The dimension of a view's result that holds the old one whole.
std::size_t covering(const Sizes& from, std::size_t dim, const Sizes& to) {
  const std::int64_t inner = product_from(from, dim + 1);
  const std::int64_t outer = product_from(from, dim);
  std::size_t found = kGone;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].value != 1 && product_from(to, i + 1) <= inner &&
        product_from(to, i) >= outer)
      found = i;
  return found;
}

std::vector<std::int64_t> dims_of(const Node& node) {
  const Argument* argument = node.find("dim");
  if (argument == nullptr) return {};
  if (const auto* one = std::get_if<std::int64_t>(argument)) return {*one};
  if (const auto* many = std::get_if<Ints>(argument)) return *many;
  return {};
}

// Where the dimension lands after mean(x, [2, 3]), or that it was summed up.
std::size_t
dim_after_reduction(const Node& node, std::size_t dim, std::size_t rank) {
  const std::vector<std::int64_t> dims = dims_of(node);
  if (dims.empty()) return kGone;
  std::size_t before = 0;
  for (const std::int64_t each : dims) {
    if (wrapped(each, rank) == dim) return kGone;
    if (wrapped(each, rank) < dim) ++before;
  }
  return NodeArguments(node).flag("keepdim", false) ? dim : dim - before;
}

class DimensionWalk {
 public:
  DimensionWalk(Graph& graph, std::int64_t before, std::int64_t after)
      : graph_(graph), before_(before), after_(after) {}

  void start(const std::string& value, std::size_t dim, const Node& node) {
    old_[value] = graph_.meta(value).sizes;
    dims_[value] = dim;
    resize(value, dim, node);
  }

  void visit(Node& node) {
    std::vector<std::string> read;
    for (const std::string& value : values_read(node))
      if (dims_.count(value) > 0) read.push_back(value);
    if (read.empty()) return;
    const std::size_t dim = landing(node, read);
    if (dim == kGone) return;
    if (node.outputs.size() != 1 ||
        !std::holds_alternative<TensorName>(node.outputs.front()))
      refuse_head_node(node);
    change_literal(node, dim);
    start(std::get<TensorName>(node.outputs.front()).name, dim, node);
  }

 private:
  void resize(const std::string& value, std::size_t dim, const Node& node) {
    TensorMeta& meta = graph_.tensors.at(value);
    const auto size = scaled(meta.sizes.at(dim), before_, after_);
    if (!size) refuse_head_node(node);
    meta.sizes.at(dim) = *size;
    meta.strides = dense_strides(meta.sizes, meta.strides);
  }

  // Where the dimension is in the result.
  std::size_t landing(const Node& node, const std::vector<std::string>& read) {
    const std::string subject = NodeArguments(node).subject();
    if (dims_.count(subject) == 0) refuse_head_node(node);
    const std::size_t dim = dims_[subject];
    const Sizes& sizes = old_[subject];
    const std::size_t rank = sizes.size();
    const Operator* page = find_operator(node);
    const Dimensions change =
        page == nullptr ? Dimensions::kOther : page->dimensions;
    if (change == Dimensions::kBroadcast) return beside(node, dim, rank);
    if (read.size() > 1) refuse_head_node(node);
    std::size_t to = dim;
    switch (change) {
      case Dimensions::kKept:
        return dim;
      case Dimensions::kRegrouped:
        to = covering(sizes, dim, graph_.meta(values_made(node).front()).sizes);
        if (to == kGone) refuse_head_node(node);
        return to;
      case Dimensions::kSwapped:
        return swapped(node, dim, rank);
      case Dimensions::kPermuted:
        return permuted_place(node, dim, rank);
      case Dimensions::kInserted:
        return dim +
            (wrapped(whole_number(node, "dim", 0), rank + 1) <= dim ? 1 : 0);
      case Dimensions::kSqueezed:
      case Dimensions::kSelected:
        // Without a dimension it would depend on the number of classes.
        to = dim_after_reduction(node, dim, rank);
        if (dims_of(node).empty() || to == kGone) refuse_head_node(node);
        return change == Dimensions::kSelected ? to
                                               : squeezed(node, dim, sizes);
      case Dimensions::kSliced:
        if (wrapped(whole_number(node, "dim", 0), rank) == dim)
          refuse_head_node(node);
        return dim;
      case Dimensions::kReduced:
        return dim_after_reduction(node, dim, rank);
      case Dimensions::kBroadcast:
      case Dimensions::kOther:
        break;
    }
    refuse_head_node(node);
  }

  static std::size_t
  swapped(const Node& node, std::size_t dim, std::size_t rank) {
    const std::size_t a = wrapped(whole_number(node, "dim0", 0), rank);
    const std::size_t b = wrapped(whole_number(node, "dim1", 1), rank);
    return dim == a ? b : dim == b ? a : dim;
  }

  static std::size_t
  permuted_place(const Node& node, std::size_t dim, std::size_t rank) {
    const auto* order = std::get_if<Ints>(node.find("dims"));
    for (std::size_t i = 0; order != nullptr && i < order->size(); ++i)
      if (wrapped((*order)[i], rank) == dim) return i;
    refuse_head_node(node);
  }

  // squeeze leaves dimensions alone that are not 1.
  static std::size_t
  squeezed(const Node& node, std::size_t dim, const Sizes& sizes) {
    std::size_t to = dim;
    for (const std::int64_t each : dims_of(node)) {
      const std::size_t at = wrapped(each, sizes.size());
      if (at < dim && sizes[at].fixed() && sizes[at].value == 1) --to;
    }
    return to;
  }

  // Beside a number or something that spreads over the classes, or another
  // that follows them in the same place.
  std::size_t beside(const Node& node, std::size_t dim, std::size_t rank) {
    const std::string other = NodeArguments(node).tensor_name("other");
    if (other.empty()) return dim;
    const auto tracked = dims_.find(other);
    const Sizes& sizes =
        tracked == dims_.end() ? graph_.meta(other).sizes : old_[other];
    const std::size_t from_end = rank - dim;
    if (sizes.size() > rank) refuse_head_node(node);
    if (tracked != dims_.end()) {
      if (sizes.size() - tracked->second != from_end) refuse_head_node(node);
    } else if (
        sizes.size() >= from_end &&
        !(sizes[sizes.size() - from_end] == Size(1))) {
      refuse_head_node(node);
    }
    return dim;
  }

  void change_literal(Node& node, std::size_t dim) const {
    const Operator* page = find_operator(node);
    if (page->dimensions != Dimensions::kRegrouped) return;
    for (NamedArgument& argument : node.inputs) {
      if (argument.name != "size" && argument.name != "shape") continue;
      if (auto* sizes = std::get_if<Ints>(&argument.value)) {
        if (sizes->at(dim) > 0)
          sizes->at(dim) = sizes->at(dim) / before_ * after_;
      } else if (
          auto* mixed = std::get_if<std::vector<IntOrName>>(&argument.value)) {
        auto* literal = std::get_if<std::int64_t>(&mixed->at(dim));
        if (literal == nullptr) refuse_head_node(node);
        if (*literal > 0) *literal = *literal / before_ * after_;
      }
    }
  }

  Graph& graph_;
  const std::int64_t before_;
  const std::int64_t after_;
  std::map<std::string, std::size_t> dims_; // of every value that follows
  std::map<std::string, Sizes> old_;
};

} // namespace

void follow_classes(
    Graph& graph,
    const std::string& value,
    std::size_t dim,
    std::int64_t before,
    std::int64_t after) {
  DimensionWalk follower(graph, before, after);
  bool started = false;
  for (Node& node : graph.nodes) {
    if (started) {
      follower.visit(node);
      continue;
    }
    const std::vector<std::string> made = values_made(node);
    started = std::find(made.begin(), made.end(), value) != made.end();
    if (started) follower.start(value, dim, node);
  }
}

} // namespace temper::graph
