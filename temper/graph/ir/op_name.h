// The parts of an operator's name. What is known about an operator is kept by
// its name, whatever its overload, and in-place variants share it.
#pragma once

#include <string>
#include <string_view>

namespace temper::graph {

// "aten.relu_.default" -> {"aten", "relu", "relu_", "default", in place}.
struct OpName {
  std::string_view space;
  std::string_view name; // without the underscore of an in-place operator
  std::string_view spelled; // with it
  std::string_view overload;
  bool in_place = false; // add_ and __iadd__; not __and__, nor Python's and_
};

// The parts point into `op`, which must outlive them.
OpName op_name(std::string_view op);

} // namespace temper::graph
