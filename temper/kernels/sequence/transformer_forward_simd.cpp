#include "temper/kernels/sequence/transformer.h"

#include "temper/kernels/sequence/transformer_parts.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Weights [out, in] packed for x W^T.
struct PackedWeights {
  const float* qkv = nullptr;
  const float* proj = nullptr;
  const float* fc1 = nullptr;
  const float* fc2 = nullptr;
};

float* pack_weight(
    const float* weight,
    std::int64_t out,
    std::int64_t in,
    std::int64_t cost,
    float* to) {
  constexpr std::int64_t kColumns = 4 * kTileColumns;
  for_each_chunk_of(
      cost, (out + kColumns - 1) / kColumns, [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kColumns;
        pack_panels_transposed(
            weight + column * in,
            in,
            in,
            out - column < kColumns ? out - column : kColumns,
            to + column * in);
      });
  return to + panel_floats(in, out);
}

PackedWeights pack_block_weights(const TransformerForward& f) {
  const std::int64_t d = f.shape.features;
  const std::int64_t h = f.shape.hidden;
  float* at = block_scratch(
      kBlockWeights,
      panel_floats(d, 3 * d) + panel_floats(d, d) + panel_floats(d, h) +
          panel_floats(h, d));
  const std::int64_t cost = block_cost(f.shape);
  PackedWeights packed;
  packed.qkv = at;
  at = pack_weight(f.parameters.qkv_weight, 3 * d, d, cost, at);
  packed.proj = at;
  at = pack_weight(f.parameters.proj_weight, d, d, cost, at);
  packed.fc1 = at;
  at = pack_weight(f.parameters.fc1_weight, h, d, cost, at);
  packed.fc2 = at;
  pack_weight(f.parameters.fc2_weight, d, h, cost, at);
  return packed;
}

// LayerNorm of some rows, into a row block.
void norm_rows(
    const RowNorm& norm,
    double eps,
    const float* x,
    std::int64_t rows,
    float* moments,
    float* block) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * norm.columns;
    const RowMoments found = moments_of(row, norm.columns, eps);
    if (moments != nullptr) {
      moments[2 * i] = found.mean;
      moments[2 * i + 1] = found.inverse;
    }
    normalise_to_block(norm, found, row, block, kBlockRows, i);
  }
}

void rows_to_qkv(
    const TransformerForward& f,
    const float* panels,
    std::int64_t row,
    std::int64_t rows) {
  const std::int64_t d = f.shape.features;
  float* block = block_scratch(kBlockRowsA, block_floats(kBlockRows, d));
  const TransformerParameters<const float>& w = f.parameters;
  norm_rows(
      {d, w.norm1_weight, w.norm1_bias},
      f.shape.eps1,
      f.x + row * d,
      rows,
      f.kept.moments1 == nullptr ? nullptr : f.kept.moments1 + 2 * row,
      block);
  Product p =
      product_of(rows, block, d, panels, f.kept.qkv + row * 3 * d, 3 * d);
  p.ending.bias = w.qkv_bias;
  multiply(p);
}

// From the result of attention to that of the block.
void rows_to_result(
    const TransformerForward& f,
    const PackedWeights& packed,
    std::int64_t row,
    std::int64_t rows) {
  const std::int64_t d = f.shape.features;
  const std::int64_t h = f.shape.hidden;
  const TransformerParameters<const float>& w = f.parameters;
  float* block = block_scratch(kBlockRowsA, block_floats(kBlockRows, d));
  copy_to_block(f.kept.attended + row * d, d, rows, d, 1.0f, block, kBlockRows);
  float* middle = f.kept.middle + row * d;
  Product proj = product_of(rows, block, d, packed.proj, middle, d);
  with_residual(proj, w.proj_bias, f.x + row * d);
  multiply(proj);

  norm_rows(
      {d, w.norm2_weight, w.norm2_bias},
      f.shape.eps2,
      middle,
      rows,
      f.kept.moments2 == nullptr ? nullptr : f.kept.moments2 + 2 * row,
      block);
  float* hidden = f.kept.hidden != nullptr
      ? f.kept.hidden + row * h
      : block_scratch(kBlockStrips, kBlockRows * h);
  Product fc1 = product_of(rows, block, d, packed.fc1, hidden, h);
  fc1.ending.bias = w.fc1_bias;
  multiply(fc1);

  float* wide = block_scratch(kBlockRowsB, block_floats(kBlockRows, h));
  ActivateRows act;
  act.act = f.shape.act;
  act.rows = rows;
  act.columns = act.stride = h;
  act.from = hidden;
  activate_to_block(act, wide, kBlockRows);
  Product fc2 = product_of(rows, wide, h, packed.fc2, f.y + row * d, d);
  with_residual(fc2, w.fc2_bias, middle);
  multiply(fc2);
}

void attend_all(const TransformerForward& f) {
  const std::int64_t d = f.shape.features;
  AttentionForward attention;
  attention.shape = attention_shape(f.shape);
  const float* qkv = f.kept.qkv;
  attention.q = heads_in(f.shape, qkv, 3 * d);
  attention.k = heads_in(f.shape, qkv + d, 3 * d);
  attention.v = heads_in(f.shape, qkv + 2 * d, 3 * d);
  attention.y = heads_in(f.shape, f.kept.attended, d);
  attention.log_sums = f.kept.log_sums;
  attention_forward(attention);
}

} // namespace

void transformer_block_forward(const TransformerForward& f) {
  const std::int64_t rows = rows_of(f.shape);
  const std::int64_t cost = block_cost(f.shape);
  const std::int64_t chunks = (rows + kBlockRows - 1) / kBlockRows;
  const PackedWeights packed = pack_block_weights(f);
  const auto count = [&](std::int64_t row) {
    return rows - row < kBlockRows ? rows - row : kBlockRows;
  };
  for_each_chunk_of(cost, chunks, [&](std::int64_t chunk) {
    const std::int64_t row = chunk * kBlockRows;
    rows_to_qkv(f, packed.qkv, row, count(row));
  });
  attend_all(f);
  for_each_chunk_of(cost, chunks, [&](std::int64_t chunk) {
    const std::int64_t row = chunk * kBlockRows;
    rows_to_result(f, packed, row, count(row));
  });
}

} // namespace temper::kernels::TEMPER_TARGET
