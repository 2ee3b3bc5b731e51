// The backward pass of a block in two passes over the rows with attention
// between them. Chunks of rows add the gradients of weights up in sums of their
// own, which are added in the order of chunks at the end.
#include "temper/kernels/sequence/transformer_parts.h"

namespace temper::kernels::TEMPER_TARGET {

void transformer_block_forward(const TransformerForward& work);

namespace {

using Gradients = TransformerParameters<float>;

// Weights [out, in] packed for g W.
struct PackedForBackward {
  float* qkv = nullptr;
  float* proj = nullptr;
  float* fc1 = nullptr;
  float* fc2 = nullptr;
};

float* pack_for_backward(
    const float* weight,
    std::int64_t out,
    std::int64_t in,
    std::int64_t cost,
    float* to) {
  constexpr std::int64_t kColumns = 4 * kTileColumns;
  for_each_chunk_of(
      cost, (in + kColumns - 1) / kColumns, [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kColumns;
        pack_panels(
            weight + column,
            in,
            out,
            in - column < kColumns ? in - column : kColumns,
            to + column * out);
      });
  return to + panel_floats(out, in);
}

PackedForBackward pack_all(const TransformerBackward& b) {
  const std::int64_t d = b.shape.features;
  const std::int64_t h = b.shape.hidden;
  const std::int64_t cost = block_cost(b.shape);
  PackedForBackward packed;
  packed.qkv = block_scratch(
      kBlockWeights,
      panel_floats(3 * d, d) + panel_floats(d, d) + panel_floats(h, d) +
          panel_floats(d, h));
  const TransformerParameters<const float>& w = b.parameters;
  packed.proj = pack_for_backward(w.qkv_weight, 3 * d, d, cost, packed.qkv);
  packed.fc1 = pack_for_backward(w.proj_weight, d, d, cost, packed.proj);
  packed.fc2 = pack_for_backward(w.fc1_weight, h, d, cost, packed.fc1);
  pack_for_backward(w.fc2_weight, d, h, cost, packed.fc2);
  return packed;
}

// Calls visit(result, sum, count) for every gradient, with the places of the
// sums side by side from `at` on; returns how many floats they take.
template <class Visit>
std::int64_t over_gradients(const TransformerShape& s, const Visit& visit) {
  const std::int64_t d = s.features;
  const std::int64_t h = s.hidden;
  std::int64_t at = 0;
  const auto next = [&](float* Gradients::*member, std::int64_t count) {
    visit(member, at, count);
    at += (count + 15) / 16 * 16;
  };
  next(&Gradients::norm1_weight, d);
  next(&Gradients::norm1_bias, d);
  next(&Gradients::qkv_weight, 3 * d * d);
  next(&Gradients::qkv_bias, 3 * d);
  next(&Gradients::proj_weight, d * d);
  next(&Gradients::proj_bias, d);
  next(&Gradients::norm2_weight, d);
  next(&Gradients::norm2_bias, d);
  next(&Gradients::fc1_weight, h * d);
  next(&Gradients::fc1_bias, h);
  next(&Gradients::fc2_weight, d * h);
  next(&Gradients::fc2_bias, d);
  return at;
}

std::int64_t sums_floats(const TransformerShape& s) {
  return over_gradients(
      s, [](float* Gradients::*, std::int64_t, std::int64_t) {});
}

// One chunk's sums; null where a gradient is not wanted. Those of weights are
// written by the first block of rows, all others begin at zero.
Gradients sums_at(const TransformerBackward& b, float* memory) {
  Gradients sums;
  over_gradients(
      b.shape,
      [&](float* Gradients::*member, std::int64_t at, std::int64_t count) {
        if (b.gradients.*member == nullptr) return;
        sums.*member = memory + at;
        if (count > 3 * b.shape.features && count > b.shape.hidden) return;
        for (std::int64_t i = 0; i < count; ++i)
          memory[at + i] = 0.0f;
      });
  return sums;
}

// dweight (+)= gradient^T * x for some rows of both.
struct WeightRows {
  std::int64_t rows = 0;
  const float* gradient = nullptr; // [rows, out]
  std::int64_t out = 0;
  const float* x = nullptr; // [rows, in]
  std::int64_t in = 0;
  bool first = false;
};
void add_to_weight(const WeightRows& w, float* dweight) {
  if (dweight == nullptr) return;
  float* strips = block_scratch(kBlockStrips, strip_floats(kBlockRows, w.out));
  float* panels = block_scratch(kBlockPanels, panel_floats(kBlockRows, w.in));
  pack_strips(w.gradient, w.out, w.rows, w.out, strips);
  pack_panels(w.x, w.in, w.rows, w.in, panels);
  TransposedProduct p;
  p.rows = w.out;
  p.columns = w.in;
  p.depth = w.rows;
  p.a = strips;
  p.panels = panels;
  p.c = dweight;
  p.c_stride = w.in;
  p.add = !w.first;
  multiply_transposed(p);
}

void add_to_bias(
    const float* gradient,
    std::int64_t rows,
    std::int64_t columns,
    float* dbias) {
  if (dbias != nullptr) add_columns(gradient, columns, rows, columns, dbias);
}

// c = gradient * W for some rows.
void times_weight(
    const float* gradient,
    std::int64_t rows,
    std::int64_t out,
    const float* panels,
    std::int64_t in,
    float* block,
    float* c) {
  copy_to_block(gradient, out, rows, out, 1.0f, block, kBlockRows);
  multiply(product_of(rows, block, out, panels, c, in));
}

RowMoments moments_at(const float* moments, std::int64_t row) {
  return {moments[2 * row], moments[2 * row + 1]};
}

// Sums of one block of rows first, then onto the chunk's: more exact.
struct NormSums {
  float* dweight = nullptr;
  float* dbias = nullptr;
};
void norm_rows_backward(
    const RowNorm& norm,
    const float* moments,
    std::int64_t row,
    std::int64_t rows,
    const RowNormBackward& from,
    const NormSums& sums,
    float* few) {
  const std::int64_t d = norm.columns;
  for (std::int64_t i = 0; i < 2 * d; ++i)
    few[i] = 0.0f;
  const bool wanted = sums.dweight != nullptr || sums.dbias != nullptr;
  for (std::int64_t i = 0; i < rows; ++i) {
    RowNormBackward one;
    one.gradient = from.gradient + i * d;
    one.x = from.x + i * d;
    one.residual = from.residual + i * d;
    one.dx = from.dx + i * d;
    one.dweight = wanted ? few : nullptr;
    one.dbias = wanted ? few + d : nullptr;
    normalise_row_backward(norm, moments_at(moments, row + i), one);
  }
  if (sums.dweight != nullptr) add_columns(few, d, 1, d, sums.dweight);
  if (sums.dbias != nullptr) add_columns(few + d, d, 1, d, sums.dbias);
}

// The rows' memory of one thread.
struct RowsMemory {
  float* block = nullptr; // a row block of max(3 * features, hidden)
  float* normed = nullptr; // [kBlockRows, features]
  float* dnormed = nullptr; // [kBlockRows, features]
  float* few = nullptr; // 2 * features
  float* value = nullptr; // [kBlockRows, hidden]
  float* dvalue = nullptr; // [kBlockRows, hidden]
};
RowsMemory rows_memory(const TransformerShape& s) {
  const std::int64_t d = s.features;
  const std::int64_t wide = 3 * d < s.hidden ? s.hidden : 3 * d;
  RowsMemory m;
  m.block = block_scratch(kBlockRowsA, block_floats(kBlockRows, wide));
  m.normed =
      block_scratch(kBlockRowsB, kBlockRows * (2 * d + 2 * s.hidden) + 2 * d);
  m.dnormed = m.normed + kBlockRows * d;
  m.value = m.dnormed + kBlockRows * d;
  m.dvalue = m.value + kBlockRows * s.hidden;
  m.few = m.dvalue + kBlockRows * s.hidden;
  return m;
}

struct Workspace {
  float* dmiddle = nullptr; // [rows, features]
  float* dattended = nullptr; // [rows, features]
  float* dqkv = nullptr; // [rows, 3 * features]
};
Workspace workspace_of(const TransformerBackward& b) {
  const std::int64_t size = rows_of(b.shape) * b.shape.features;
  return {b.workspace, b.workspace + size, b.workspace + 2 * size};
}

// From the gradient of the result to that of attention.
void rows_to_attention(
    const TransformerBackward& b,
    const PackedForBackward& packed,
    const Gradients& sums,
    std::int64_t row,
    std::int64_t rows,
    bool first) {
  const std::int64_t d = b.shape.features;
  const std::int64_t h = b.shape.hidden;
  const RowsMemory m = rows_memory(b.shape);
  const Workspace space = workspace_of(b);
  const float* dy = b.gradient + row * d;
  const float* middle = b.kept.middle + row * d;
  const RowNorm norm{d, b.parameters.norm2_weight, b.parameters.norm2_bias};
  for (std::int64_t i = 0; i < rows; ++i)
    normalise_row(
        norm,
        moments_at(b.kept.moments2, row + i),
        middle + i * d,
        m.normed + i * d);

  times_weight(dy, rows, d, packed.fc2, h, m.block, m.dvalue);
  ActivateBackward act;
  act.act = b.shape.act;
  act.rows = rows;
  act.columns = h;
  act.x = b.kept.hidden + row * h;
  act.gradient = m.dvalue;
  act.dx = m.dvalue;
  act.value = m.value;
  act.x_stride = act.gradient_stride = act.dx_stride = act.value_stride = h;
  activate_rows_backward(act);
  add_to_bias(dy, rows, d, sums.fc2_bias);
  add_to_weight({rows, dy, d, m.value, h, first}, sums.fc2_weight);
  add_to_bias(m.dvalue, rows, h, sums.fc1_bias);
  add_to_weight({rows, m.dvalue, h, m.normed, d, first}, sums.fc1_weight);

  times_weight(m.dvalue, rows, h, packed.fc1, d, m.block, m.dnormed);
  float* dmiddle = space.dmiddle + row * d;
  RowNormBackward back;
  back.gradient = m.dnormed;
  back.x = middle;
  back.residual = dy;
  back.dx = dmiddle;
  norm_rows_backward(
      norm,
      b.kept.moments2,
      row,
      rows,
      back,
      {sums.norm2_weight, sums.norm2_bias},
      m.few);

  times_weight(
      dmiddle, rows, d, packed.proj, d, m.block, space.dattended + row * d);
  add_to_bias(dmiddle, rows, d, sums.proj_bias);
  add_to_weight(
      {rows, dmiddle, d, b.kept.attended + row * d, d, first},
      sums.proj_weight);
}

// From the gradients of queries, keys and values to that of x.
void rows_to_dx_of_block(
    const TransformerBackward& b,
    const PackedForBackward& packed,
    const Gradients& sums,
    std::int64_t row,
    std::int64_t rows,
    bool first) {
  const std::int64_t d = b.shape.features;
  const RowsMemory m = rows_memory(b.shape);
  const Workspace space = workspace_of(b);
  const float* dqkv = space.dqkv + row * 3 * d;
  const float* x = b.x + row * d;
  const RowNorm norm{d, b.parameters.norm1_weight, b.parameters.norm1_bias};
  for (std::int64_t i = 0; i < rows; ++i)
    normalise_row(
        norm,
        moments_at(b.kept.moments1, row + i),
        x + i * d,
        m.normed + i * d);
  add_to_bias(dqkv, rows, 3 * d, sums.qkv_bias);
  add_to_weight({rows, dqkv, 3 * d, m.normed, d, first}, sums.qkv_weight);
  times_weight(dqkv, rows, 3 * d, packed.qkv, d, m.block, m.dnormed);
  RowNormBackward back;
  back.gradient = m.dnormed;
  back.x = x;
  back.residual = space.dmiddle + row * d;
  back.dx = b.dx + row * d;
  norm_rows_backward(
      norm,
      b.kept.moments1,
      row,
      rows,
      back,
      {sums.norm1_weight, sums.norm1_bias},
      m.few);
}

void attend_all_backward(const TransformerBackward& b) {
  const std::int64_t d = b.shape.features;
  const Workspace space = workspace_of(b);
  const float* qkv = b.kept.qkv;
  const float* attended = b.kept.attended;
  const float* dattended = space.dattended;
  AttentionBackward attention;
  attention.shape = attention_shape(b.shape);
  attention.q = heads_in(b.shape, qkv, 3 * d);
  attention.k = heads_in(b.shape, qkv + d, 3 * d);
  attention.v = heads_in(b.shape, qkv + 2 * d, 3 * d);
  attention.y = heads_in(b.shape, attended, d);
  attention.gradient = heads_in(b.shape, dattended, d);
  attention.log_sums = b.kept.log_sums;
  attention.dq = heads_in(b.shape, space.dqkv, 3 * d);
  attention.dk = heads_in(b.shape, space.dqkv + d, 3 * d);
  attention.dv = heads_in(b.shape, space.dqkv + 2 * d, 3 * d);
  attention_backward(attention);
}

void block_backward(const TransformerBackward& b) {
  const std::int64_t rows = rows_of(b.shape);
  const std::int64_t cost = block_cost(b.shape);
  const std::int64_t floats = sums_floats(b.shape);
  const std::int64_t parts = partial_sums(rows, floats);
  const PackedForBackward packed = pack_all(b);
  float* memory = block_scratch(kBlockSums, parts * floats);
  const auto over_rows = [&](std::int64_t part, const auto& work) {
    const ChunkRange range = chunk_range(rows, kBlockRows, parts, part);
    for (std::int64_t row = range.begin; row < range.end; row += kBlockRows) {
      const std::int64_t left = range.end - row;
      work(row, left < kBlockRows ? left : kBlockRows, row == range.begin);
    }
  };
  for_each_chunk_of(cost, parts, [&](std::int64_t part) {
    const Gradients sums = sums_at(b, memory + part * floats);
    over_rows(part, [&](std::int64_t row, std::int64_t count, bool first) {
      rows_to_attention(b, packed, sums, row, count, first);
    });
  });
  attend_all_backward(b);
  for_each_chunk_of(cost, parts, [&](std::int64_t part) {
    Gradients sums;
    over_gradients(
        b.shape, [&](float* Gradients::*member, std::int64_t at, std::int64_t) {
          if (b.gradients.*member != nullptr)
            sums.*member = memory + part * floats + at;
        });
    over_rows(part, [&](std::int64_t row, std::int64_t count, bool first) {
      rows_to_dx_of_block(b, packed, sums, row, count, first);
    });
  });
  over_gradients(
      b.shape,
      [&](float* Gradients::*member, std::int64_t at, std::int64_t count) {
        float* to = b.gradients.*member;
        if (to == nullptr) return;
        constexpr std::int64_t kAtOnce = 1 << 14;
        for_each_chunk_of(
            count * 8,
            (count + kAtOnce - 1) / kAtOnce,
            [&](std::int64_t chunk) {
              const std::int64_t end = (chunk + 1) * kAtOnce;
              add_parts(
                  memory + at,
                  floats,
                  parts,
                  chunk * kAtOnce,
                  end < count ? end : count,
                  to);
            });
      });
}

} // namespace

extern const TransformerTable transformer_table;
const TransformerTable transformer_table{
    transformer_block_forward,
    block_backward};

} // namespace temper::kernels::TEMPER_TARGET
