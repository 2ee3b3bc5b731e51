#include "temper/graph/ir/shape.h"

#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

std::int64_t bytes_of(const Shape& shape) {
  return times(
      element_count(shape.sizes),
      static_cast<std::int64_t>(bytes_of(shape.dtype)));
}

} // namespace temper::graph
