#include "temper/graph/op/node_shapes.h"

#include "temper/base/text.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

void NodeShapes::set(const std::string& name, const Shape& shape) {
  for (const auto size : shape.sizes)
    require(
        size >= 0 && size < INT64_MAX,
        cat("its result would be ", sizes_text(shape.sizes)));
  element_count(shape.sizes);
  made_.tensors[name] = shape;
}

void NodeShapes::give_all(const std::vector<Shape>& shapes) {
  std::vector<std::string> names;
  for (const auto& output : node().outputs) {
    // A result nobody reads keeps its place.
    if (std::holds_alternative<None>(output))
      names.emplace_back();
    else
      for (auto& name : tensors_in(output))
        names.push_back(std::move(name));
  }
  require(
      names.size() <= shapes.size(),
      cat("it gives ",
          plural(static_cast<std::int64_t>(shapes.size()), "tensor"),
          ", the graph wants ",
          names.size()));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) set(names[i], shapes[i]);
}

void NodeShapes::give(Shape shape) {
  give_all({std::move(shape)});
}

void NodeShapes::give(DType dtype, Ints sizes) {
  give_all({Shape{dtype, std::move(sizes)}});
}

void NodeShapes::give_number(std::int64_t number) {
  for (const auto& output : node().outputs)
    if (const auto* name = std::get_if<NumberName>(&output))
      made_.numbers[name->name] = number;
}

} // namespace temper::graph
