// The parts of an operator's name. Rules of shapes, costs and memory are kept
// per operator, whatever its overload, and in-place variants share them.
#pragma once

#include <string>
#include <string_view>

namespace temper::graph {

// "aten.relu_.default" -> {"aten", "relu", "default", in place}.
struct OpName {
  std::string_view space;
  std::string_view name; // without the underscore of an in-place operator
  std::string_view overload;
  bool in_place = false;
};

// The parts point into `op`, which must outlive them.
OpName op_name(std::string_view op);

} // namespace temper::graph
