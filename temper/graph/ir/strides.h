// How the elements of a tensor lie in memory: strides, in elements.
#pragma once

#include <optional>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

// Row by row, as PyTorch lays out a new tensor.
Ints strides_in_order(const Ints& sizes);
bool in_order(const Ints& sizes, const Ints& strides);
// Images of four dimensions whose channels lie side by side.
Ints channels_last_strides(const Ints& sizes);
bool has_channels_last(const Ints& sizes, const Ints& strides);
// The strides with which the same memory is seen under other sizes; no value
// when the elements would have to move.
std::optional<Ints>
viewed(const Ints& sizes, const Ints& strides, const Ints& wanted);

} // namespace temper::graph
