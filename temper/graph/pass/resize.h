// Arithmetic on sizes and strides that may hold symbols. Used by the passes
// that change shapes.
#pragma once

#include <optional>

#include "temper/graph/ir/size.h"

namespace temper::graph {

// The size times after / before; no value when that is no whole number for
// every value of its symbol, or there are several symbols.
std::optional<Size>
scaled(const Size& size, std::int64_t before, std::int64_t after);

// The strides of a tensor whose sizes changed, its dimensions lying in memory
// in the same order as before; row by row when there were none.
Sizes dense_strides(const Sizes& sizes, const Sizes& old_strides);

} // namespace temper::graph
