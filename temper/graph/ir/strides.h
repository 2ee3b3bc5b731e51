// How a view lies in its base's memory: the strides, in elements, that PyTorch
// gives a value. The builder writes them beside the sizes. No torch here.
#pragma once

#include "temper/graph/ir/graph.h"

namespace temper::graph {

Ints contiguous_strides(const Ints& sizes);

// Of the result of an operator, its first tensor argument having `sizes` and
// `strides`, the result `made`. Operators that are no views give a fresh,
// contiguous tensor; those in place give x itself.
Ints strides_made(
    const Node& node,
    const Ints& sizes,
    const Ints& strides,
    const Ints& made);

} // namespace temper::graph
