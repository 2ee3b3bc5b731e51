// The cost of each node: multiply-adds, floating-point operations, bytes moved.
// Used by `temper model show` and the choice of what to recompute.
#pragma once

#include <cstdint>
#include <vector>

#include "temper/graph/op/storage_map.h"

namespace temper::graph {

struct Cost {
  // Multiply-adds of convolutions and products of matrices, as the literature
  // counts them: no bias, nothing else.
  std::int64_t macs = 0;
  std::int64_t flops =
      0; // forward; two a multiply-add, and the rest by element
  std::int64_t backward_flops = 0; // an estimate
  std::int64_t bytes_read = 0; // each input once
  std::int64_t bytes_written = 0;

  Cost& operator+=(const Cost& other);
};

// The costs in the order of the nodes; figures too large to count stay at the
// largest.
std::vector<Cost>
costs(const Graph& graph, const Inferred& known, const Symbols& symbols);

} // namespace temper::graph
