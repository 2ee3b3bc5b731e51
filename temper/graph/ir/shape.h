// The shape of a value once the graph's symbols have values, and the shapes of
// all values that are known so far.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "temper/graph/ir/dtype.h"

namespace temper::graph {

struct Shape {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Inferred {
  std::map<std::string, Shape> tensors; // by value name
  std::map<std::string, std::int64_t> numbers;
};

std::int64_t bytes_of(const Shape& shape);

} // namespace temper::graph
