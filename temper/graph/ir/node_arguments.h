// One node's arguments, with the shapes and numbers behind their names where
// those are at hand. Everything that reads a node's arguments reads them here:
// rules of operators, passes, the plan of the executor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/shape.h"

namespace temper::graph {

class NodeArguments {
 public:
  // Both must outlive it. Without shapes there is what stands in the node:
  // flags, literals and names; a number that the graph computes has no value.
  explicit NodeArguments(const Node& node) : node_(node) {}
  NodeArguments(const Node& node, const Inferred& known)
      : node_(node), known_(&known) {}

  const Node& node() const {
    return node_;
  }

  // Present and not None.
  bool given(const char* name) const;
  // The value that a tensor argument names; empty if it is absent, None or a
  // list.
  std::string tensor_name(const char* name) const;
  // The first tensor among the arguments: what the operator works on.
  std::string subject() const;
  // The shape of a tensor argument; refuses when it is missing.
  const Shape& tensor(const char* name) const;
  const Shape* find_tensor(const char* name) const;
  std::vector<Shape> tensors(const char* name) const;
  // The first argument that is a tensor: "self" here, "input" there.
  const Shape& first_tensor() const;

  // Numbers the graph computed are looked up.
  std::int64_t integer(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t fallback) const;
  Ints integers(const char* name) const;
  Ints integers(const char* name, const Ints& fallback) const;
  // A list of `count`; a single number stands for all of them.
  Ints repeated(const char* name, std::size_t count, const Ints& fallback)
      const;
  std::vector<double> reals(const char* name) const;
  double real(const char* name, double fallback) const;
  bool flag(const char* name, bool fallback) const;
  std::string text(const char* name, const std::string& fallback) const;
  std::optional<DType> dtype(const char* name = "dtype") const;
  // The integer behind an argument that is one, or names one.
  std::optional<std::int64_t> number_of(const Argument& argument) const;
  const Shape* shape_of(const Argument& argument) const;

  // A dimension from the front, of a tensor with `rank` of them.
  std::size_t axis(std::int64_t dim, std::size_t rank) const;

  // The shapes do not fit: Error that names node, module and line.
  [[noreturn]] void refuse(const std::string& why) const;
  void require(bool holds, const std::string& why) const;

 private:
  const Node& node_;
  const Inferred* known_ = nullptr;
};

// "[8, 3, 32, 32]"
std::string sizes_text(const Ints& sizes);
// "linear_3 (linear) in blocks.0.mlp, net.py:27": how errors speak of a node.
std::string describe(const Node& node);

} // namespace temper::graph
