// The part that both passes of a transformer block share. For files named
// *_simd.cpp.
// Private to kernels/sequence.
#pragma once

#include "temper/kernels/sequence/attention.h"
#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/rows.h"
#include "temper/kernels/sequence/transformer.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {

// The slots 0 to 3 belong to the caller, 4 to 7 to the thread of a chunk, those
// from 8 on to attention.
enum TransformerSlot {
  kBlockWeights,
  kBlockSums,
  kBlockRowsA = 4,
  kBlockRowsB,
  kBlockStrips,
  kBlockPanels
};

[[gnu::always_inline]] inline float* block_scratch(
    int slot,
    std::int64_t count) {
  return scratch(slot, static_cast<std::size_t>(count));
}

[[gnu::always_inline]] inline std::int64_t rows_of(const TransformerShape& s) {
  return s.batch * s.tokens;
}

[[gnu::always_inline]] inline std::int64_t block_cost(
    const TransformerShape& s) {
  return rows_of(s) * s.features * (4 * s.features + 2 * s.hidden);
}

inline AttentionShape attention_shape(const TransformerShape& s) {
  AttentionShape shape;
  shape.batch = s.batch;
  shape.heads = s.heads;
  shape.queries = shape.keys = s.tokens;
  shape.width = shape.value_width = s.features / s.heads;
  shape.causal = s.causal;
  shape.scale = s.scale;
  return shape;
}

// The heads of one of `wide / features` matrices side by side.
template <class Number>
inline HeadsView<Number>
heads_in(const TransformerShape& s, Number* first, std::int64_t wide) {
  HeadsView<Number> view;
  view.data = first;
  view.batch_stride = s.tokens * wide;
  view.head_stride = s.features / s.heads;
  view.token_stride = wide;
  return view;
}

// A product of rows in a row block with a packed weight.
inline Product product_of(
    std::int64_t rows,
    const float* block,
    std::int64_t depth,
    const float* panels,
    float* c,
    std::int64_t columns) {
  Product p;
  p.rows = rows;
  p.columns = columns;
  p.depth = depth;
  p.a = block;
  p.a_capacity = kBlockRows;
  p.panels = panels;
  p.c = c;
  p.c_stride = columns;
  return p;
}

inline void
with_residual(Product& p, const float* bias, const float* residual) {
  p.ending.bias = bias;
  p.ending.residual = residual;
  p.ending.residual_stride = p.columns;
}

} // namespace temper::kernels::TEMPER_TARGET
