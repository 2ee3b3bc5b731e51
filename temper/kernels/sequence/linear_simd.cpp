// Two shapes of work. With many rows the weight is packed once, and blocks of
// rows go through it; gradients of weights are added up per chunk of rows. With
// few rows the weight is the large matrix: in the forward pass it takes the
// place of A as it lies, so that nothing is transposed but the few rows, and
// chunks are pieces of the weight.
#include "temper/kernels/sequence/linear.h"

#include "temper/kernels/norm/lanes.h"
#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/narrow_linear.h"
#include "temper/kernels/sequence/rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Slots 0 to 3 belong to the caller, 4 to 7 to the thread of a chunk.
enum LinearSlot {
  kShared,
  kParts,
  kSums,
  kGathered,
  kGradientRows,
  kBlock,
  kStrips,
  kPanels
};

constexpr std::int64_t kFewRows = 128;
constexpr std::int64_t kColumnsAtOnce = 4 * kTileColumns;

float* floats(int slot, std::int64_t count) {
  return scratch(slot, static_cast<std::size_t>(count));
}

std::int64_t chunks_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

std::int64_t cost_of(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return rows * in * out;
}

// act(before) + residual over a rectangle of the result.
void activate_and_add(
    const LinearForward& f,
    std::int64_t row,
    std::int64_t rows,
    std::int64_t column,
    std::int64_t columns,
    const float* before) {
  const std::int64_t at = row * f.out + column;
  ActivateRows work;
  work.act = f.act;
  work.rows = rows;
  work.columns = columns;
  work.stride = f.out;
  work.from = before + at;
  work.residual = f.residual == nullptr ? nullptr : f.residual + at;
  work.to = f.y + at;
  activate_rows(work);
}

void forward_many(const LinearForward& f) {
  float* panels = floats(kShared, panel_floats(f.in, f.out));
  const std::int64_t cost = cost_of(f.rows, f.in, f.out);
  for_each_chunk_of(
      cost, chunks_of(f.out, kColumnsAtOnce), [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kColumnsAtOnce;
        const std::int64_t left = f.out - column;
        pack_panels_transposed(
            f.weight + column * f.in,
            f.in,
            f.in,
            left < kColumnsAtOnce ? left : kColumnsAtOnce,
            panels + column * f.in);
      });
  const bool plain = f.act == Activation::kNone;
  float* before = f.before != nullptr ? f.before : f.y;
  for_each_chunk_of(
      cost, chunks_of(f.rows, kBlockRows), [&](std::int64_t chunk) {
        const std::int64_t row = chunk * kBlockRows;
        Product p;
        p.rows = f.rows - row < kBlockRows ? f.rows - row : kBlockRows;
        p.columns = f.out;
        p.depth = f.in;
        float* block = floats(kBlock, block_floats(kBlockRows, f.in));
        copy_to_block(
            f.x + row * f.x_stride,
            f.x_stride,
            p.rows,
            f.in,
            1.0f,
            block,
            kBlockRows);
        p.a = block;
        p.a_capacity = kBlockRows;
        p.panels = panels;
        p.c = before + row * f.out;
        p.c_stride = f.out;
        p.ending.bias = f.bias;
        if (plain && f.residual != nullptr) {
          p.ending.residual = f.residual + row * f.out;
          p.ending.residual_stride = f.out;
        }
        multiply(p);
        if (!plain) activate_and_add(f, row, p.rows, 0, f.out, before);
      });
}

// A few rows of the weight times all rows of x, then turned around.
void forward_weight_rows(
    const LinearForward& f,
    const float* panels,
    std::int64_t column,
    std::int64_t columns) {
  const std::int64_t wide = (f.rows + kLanes - 1) / kLanes * kLanes;
  float* block = floats(kBlock, block_floats(columns, f.in));
  float* product = floats(kPanels, columns * wide);
  copy_to_block(
      f.weight + column * f.in, f.in, columns, f.in, 1.0f, block, columns);
  Product p;
  p.rows = columns;
  p.columns = f.rows;
  p.depth = f.in;
  p.a = block;
  p.a_capacity = columns;
  p.panels = panels;
  p.c = product;
  p.c_stride = wide;
  multiply(p);
  if (f.bias != nullptr)
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < wide; i += kLanes) {
        float* at = product + j * wide + i;
        store(at, load(at) + broadcast(f.bias[column + j]));
      }
  float* before = f.before != nullptr ? f.before : f.y;
  transpose(product, wide, columns, f.rows, before + column, f.out);
  if (f.act != Activation::kNone || f.residual != nullptr)
    activate_and_add(f, 0, f.rows, column, columns, before);
}

void forward_few(const LinearForward& f) {
  float* panels = floats(kShared, panel_floats(f.in, f.rows));
  pack_panels_transposed(f.x, f.x_stride, f.in, f.rows, panels);
  constexpr std::int64_t kPiece = 48;
  for_each_chunk_of(
      cost_of(f.rows, f.in, f.out),
      chunks_of(f.out, kPiece),
      [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kPiece;
        const std::int64_t left = f.out - column;
        forward_weight_rows(f, panels, column, left < kPiece ? left : kPiece);
      });
}

void forward_narrow(const LinearForward& f) {
  float* before = f.before != nullptr ? f.before : f.y;
  narrow_product(f, before);
  if (f.bias != nullptr)
    for (std::int64_t i = 0; i < f.rows; ++i)
      for (std::int64_t j = 0; j < f.out; ++j)
        before[i * f.out + j] += f.bias[j];
  if (f.act != Activation::kNone || f.residual != nullptr)
    activate_and_add(f, 0, f.rows, 0, f.out, before);
}

void forward_linear(const LinearForward& f) {
  if (is_narrow(f.rows, f.in, f.out))
    forward_narrow(f);
  else if (f.rows <= kFewRows)
    forward_few(f);
  else
    forward_many(f);
}

// The gradient of some rows before the activation: the gradient itself where
// there is none.
const float* gradient_through_activation(
    const LinearBackward& b,
    std::int64_t row,
    std::int64_t rows,
    float* to) {
  const float* gradient = b.gradient + row * b.out;
  if (b.act == Activation::kNone) return gradient;
  ActivateBackward work;
  work.act = b.act;
  work.rows = rows;
  work.columns = b.out;
  work.x = b.before + row * b.out;
  work.x_stride = work.gradient_stride = work.dx_stride = b.out;
  work.gradient = gradient;
  work.dx = to;
  activate_rows_backward(work);
  return to;
}

// Some rows of a backward pass, and what of them before the activation is.
struct BackwardRows {
  std::int64_t row = 0;
  std::int64_t rows = 0;
  const float* gradient = nullptr;
};

BackwardRows
backward_rows_at(const LinearBackward& b, std::int64_t row, std::int64_t end) {
  const std::int64_t rows = end - row < kBlockRows ? end - row : kBlockRows;
  float* to = b.act == Activation::kNone
      ? nullptr
      : floats(kGradientRows, kBlockRows * b.out);
  return {row, rows, gradient_through_activation(b, row, rows, to)};
}

void rows_to_dx(
    const LinearBackward& b,
    const BackwardRows& part,
    const float* weight_panels) {
  float* block = floats(kBlock, block_floats(kBlockRows, b.out));
  copy_to_block(
      part.gradient, b.out, part.rows, b.out, 1.0f, block, kBlockRows);
  Product p;
  p.rows = part.rows;
  p.columns = b.in;
  p.depth = b.out;
  p.a = block;
  p.a_capacity = kBlockRows;
  p.panels = weight_panels;
  p.c = b.dx + part.row * b.in;
  p.c_stride = b.in;
  multiply(p);
}

// Adds to some columns of the gradient of the weight.
struct WeightColumns {
  std::int64_t column = 0;
  std::int64_t columns = 0;
  float* sums = nullptr; // [out, in]
};
void rows_to_dweight(
    const LinearBackward& b,
    const BackwardRows& part,
    const WeightColumns& to,
    bool first) {
  float* strips = floats(kStrips, strip_floats(kBlockRows, b.out));
  float* panels = floats(kPanels, panel_floats(kBlockRows, to.columns));
  pack_strips(part.gradient, b.out, part.rows, b.out, strips);
  pack_panels(
      b.x + part.row * b.x_stride + to.column,
      b.x_stride,
      part.rows,
      to.columns,
      panels);
  TransposedProduct p;
  p.rows = b.out;
  p.columns = to.columns;
  p.depth = part.rows;
  p.a = strips;
  p.panels = panels;
  p.c = to.sums + to.column;
  p.c_stride = b.in;
  p.add = !first;
  multiply_transposed(p);
}

const float* weight_for_dx(const LinearBackward& b, std::int64_t cost) {
  float* panels = floats(kShared, panel_floats(b.out, b.in));
  for_each_chunk_of(
      cost, chunks_of(b.in, kColumnsAtOnce), [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kColumnsAtOnce;
        const std::int64_t left = b.in - column;
        pack_panels(
            b.weight + column,
            b.in,
            b.out,
            left < kColumnsAtOnce ? left : kColumnsAtOnce,
            panels + column * b.out);
      });
  return panels;
}

// Chunks are rows, whose sums are added up in the end; where weights are so
// large that there is room for few sums, pieces of the weight as well, and the
// gradient of x is a pass of its own.
struct BackwardPlan {
  std::int64_t parts = 1;
  std::int64_t groups = 1;
};
BackwardPlan backward_plan(const LinearBackward& b) {
  BackwardPlan plan;
  plan.parts = partial_sums(b.rows, b.in * b.out);
  const std::int64_t panels = chunks_of(b.in, kTileColumns);
  if (plan.parts < 4) plan.groups = panels < 8 ? panels : 8;
  return plan;
}

void backward_many(const LinearBackward& b) {
  const std::int64_t size = b.in * b.out;
  const std::int64_t cost = cost_of(b.rows, b.in, b.out);
  const BackwardPlan plan = backward_plan(b);
  const float* panels = b.dx == nullptr ? nullptr : weight_for_dx(b, cost);
  float* dweight = b.dweight;
  if (dweight != nullptr && plan.parts > 1)
    dweight = floats(kParts, plan.parts * size);
  float* dbias =
      b.dbias == nullptr ? nullptr : floats(kSums, plan.parts * b.out);
  if (b.dx != nullptr && plan.groups > 1)
    for_each_chunk_of(
        cost, chunks_of(b.rows, kBlockRows), [&](std::int64_t chunk) {
          rows_to_dx(
              b, backward_rows_at(b, chunk * kBlockRows, b.rows), panels);
        });
  for_each_chunk_of(cost, plan.parts * plan.groups, [&](std::int64_t chunk) {
    const std::int64_t part = chunk / plan.groups;
    const std::int64_t group = chunk % plan.groups;
    const ChunkRange range = chunk_range(b.rows, kBlockRows, plan.parts, part);
    const ChunkRange columns =
        chunk_range(b.in, kTileColumns, plan.groups, group);
    const WeightColumns to{
        columns.begin,
        columns.end - columns.begin,
        dweight == nullptr ? nullptr : dweight + part * size};
    float* sums =
        dbias == nullptr || group != 0 ? nullptr : dbias + part * b.out;
    if (sums != nullptr) clear(b.out, sums);
    for (std::int64_t row = range.begin; row < range.end; row += kBlockRows) {
      const BackwardRows rows = backward_rows_at(b, row, range.end);
      if (sums != nullptr)
        add_columns(rows.gradient, b.out, rows.rows, b.out, sums);
      if (b.dx != nullptr && plan.groups == 1) rows_to_dx(b, rows, panels);
      if (dweight != nullptr) rows_to_dweight(b, rows, to, row == range.begin);
    }
  });
  if (dbias != nullptr) add_parts(dbias, b.out, plan.parts, 0, b.out, b.dbias);
  if (dweight == nullptr || plan.parts == 1) return;
  constexpr std::int64_t kAtOnce = 1 << 14;
  for_each_chunk_of(cost, chunks_of(size, kAtOnce), [&](std::int64_t chunk) {
    const std::int64_t end = (chunk + 1) * kAtOnce;
    add_parts(
        dweight,
        size,
        plan.parts,
        chunk * kAtOnce,
        end < size ? end : size,
        b.dweight);
  });
}

// All rows of the gradient times some columns of the weight.
void columns_to_dx(
    const LinearBackward& b,
    const float* block,
    std::int64_t column,
    std::int64_t columns) {
  float* panels = floats(kPanels, panel_floats(b.out, columns));
  pack_panels(b.weight + column, b.in, b.out, columns, panels);
  Product p;
  p.rows = b.rows;
  p.columns = columns;
  p.depth = b.out;
  p.a = block;
  p.a_capacity = b.rows;
  p.panels = panels;
  p.c = b.dx + column;
  p.c_stride = b.in;
  multiply(p);
}

void backward_few(const LinearBackward& b) {
  const float* g = gradient_through_activation(
      b, 0, b.rows, floats(kGathered, b.rows * b.out));
  if (b.dbias != nullptr) {
    clear(b.out, b.dbias);
    add_columns(g, b.out, b.rows, b.out, b.dbias);
  }
  if (is_narrow(b.rows, b.in, b.out)) return narrow_gradients(b, g);
  float* block = nullptr;
  if (b.dx != nullptr) {
    block = floats(kShared, block_floats(b.rows, b.out));
    copy_to_block(g, b.out, b.rows, b.out, 1.0f, block, b.rows);
  }
  float* strips = nullptr;
  float* panels = nullptr;
  if (b.dweight != nullptr) {
    strips = floats(kParts, strip_floats(b.rows, b.out));
    panels = floats(kSums, panel_floats(b.rows, b.in));
    pack_strips(g, b.out, b.rows, b.out, strips);
    pack_panels(b.x, b.x_stride, b.rows, b.in, panels);
  }
  for_each_chunk_of(
      cost_of(b.rows, b.in, b.out),
      chunks_of(b.in, kTileColumns),
      [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kTileColumns;
        const std::int64_t left = b.in - column;
        const std::int64_t columns = left < kTileColumns ? left : kTileColumns;
        if (block != nullptr) columns_to_dx(b, block, column, columns);
        if (strips == nullptr) return;
        TransposedProduct p;
        p.rows = b.out;
        p.columns = columns;
        p.depth = b.rows;
        p.a = strips;
        p.panels = panels + column * b.rows;
        p.c = b.dweight + column;
        p.c_stride = b.in;
        multiply_transposed(p);
      });
}

void backward_linear(const LinearBackward& b) {
  if (b.rows <= kFewRows)
    backward_few(b);
  else
    backward_many(b);
}

} // namespace

extern const LinearTable linear_table;
const LinearTable linear_table{forward_linear, backward_linear};

} // namespace temper::kernels::TEMPER_TARGET
