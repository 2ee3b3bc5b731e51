// One node as a shape rule sees it: its arguments, and a place for what it
// makes.
// Private to graph.
#pragma once

#include "temper/graph/ir/node_arguments.h"

namespace temper::graph {

class NodeShapes : public NodeArguments {
 public:
  NodeShapes(const Node& node, Inferred& known)
      : NodeArguments(node, known), made_(known) {}

  void give(Shape shape);
  void give(DType dtype, Ints sizes);
  // One after another, over single results and lists of them.
  void give_all(const std::vector<Shape>& shapes);
  void give_number(std::int64_t number);

 private:
  void set(const std::string& name, const Shape& shape);

  Inferred& made_;
};

} // namespace temper::graph
