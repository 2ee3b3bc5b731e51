// How a view lies in its base's memory: the strides, in elements, that PyTorch
// gives a value. The builder writes them beside the sizes. No torch here.
#pragma once

#include "temper/graph/ir/graph.h"

namespace temper::graph {

Ints contiguous_strides(const Ints& sizes);

// The strides of an operator's result, when its first tensor argument has
// `sizes` and `strides` and the result has sizes `made`. Operators that are no
// views give a fresh, contiguous tensor; those in place give x itself.
Ints strides_made(
    const Node& node,
    const Ints& sizes,
    const Ints& strides,
    const Ints& made);

} // namespace temper::graph
