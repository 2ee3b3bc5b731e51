// Sizes and tensors' descriptions between torch.export's JSON and the graph.
// Private to graph/pt2.
#pragma once

#include "temper/graph/ir/graph.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

// {"as_int": 3} or {"as_expr": {"expr_str": ..., "hint": {"as_int": 16}}}.
// Unreadable when a fixed size is below zero.
Size read_size(const Json& json);
Json write_size(const Size& size);

// A computed number: as a size, but may be negative, a float or a bool. Only an
// integer's example is kept.
Size read_number(const Json& json);
Json write_number(const Size& size, NumberKind kind);

DType read_dtype(const Json& json);
[[noreturn]] void refuse_complex();
Device read_device(const Json& json);
Json write_device(const Device& device);

TensorMeta read_meta(const Json& json);
Json write_meta(const TensorMeta& meta);

// Strides of a tensor whose elements lie in order.
Sizes contiguous_strides(const Sizes& sizes);

} // namespace temper::graph::pt2
