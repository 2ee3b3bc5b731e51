// Backward of pointwise.h. The gradient of the results, dY, passes through the
// normalisation after the convolution as it is read, once, into a block that
// stays in the cache; both gradients are made from that block:
//   dX = dY W   tiles of rows x inputs, W packed in panels of inputs
//   dW = dY^T X tiles of outputs x inputs, X packed in the same panels
// dX then goes through the activation before the convolution, and into the sums
// its normalisation needs, before it is written.
#include "temper/kernels/conv/pointwise_backward.h"

#include "temper/kernels/conv/fill_panels.h"
#include "temper/kernels/conv/outer_product.h"
#include "temper/kernels/conv/row_source_simd.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/stream.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Rows whose memory is asked for ahead of time, as their numbers lie too far
// apart for the processor to foresee.
constexpr std::int64_t kRowsAhead = 12;

// The end of some vectors of dX's columns, over the rows of a block.
template <Activation kAct, bool kSums>
struct FinishColumns {
  const PointwiseBackward& job;
  std::int64_t inputs;
  std::int64_t rows;
  std::int64_t at; // of the block's first row and the panel's first column
  std::int64_t column;
  const float* from; // [rows, kTileColumns]
  float* first;
  float* second;

  template <int kVectors, bool kStream, class Lanes>
  [[gnu::always_inline]] void finish(Lanes lanes, std::int64_t c) const {
    Vec scale[kVectors] = {};
    Vec shift[kVectors] = {};
    Vec mean[kVectors] = {};
    Vec a[kVectors] = {};
    Vec b[kVectors] = {};
    if constexpr (kSums)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        scale[j] = lanes.load(job.before.scale + column + c + j * kLanes);
        shift[j] = lanes.load(job.before.shift + column + c + j * kLanes);
        mean[j] = lanes.load(job.before_mean + column + c + j * kLanes);
      }
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t row = at + r * inputs + c;
      const std::int64_t ahead = row + kRowsAhead * inputs;
      if constexpr (kSums) __builtin_prefetch(job.x.x + ahead);
      if constexpr (!kStream) __builtin_prefetch(job.x_gradient + ahead, 1);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const std::int64_t here = row + j * kLanes;
        Vec g = load(from + r * kTileColumns + c + j * kLanes);
        if (job.x_gradient_add != nullptr)
          g += lanes.load(job.x_gradient_add + here);
        if constexpr (kSums) {
          const Vec x = lanes.load(job.x.x + here);
          g = through_activation<kAct>(g, x * scale[j] + shift[j]);
          a[j] += g;
          b[j] += g * (x - mean[j]);
        }
        store_or_stream<kStream>(lanes, job.x_gradient + here, g);
      }
    }
    if constexpr (kSums)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        float* sum = first + c + j * kLanes;
        float* product = second + c + j * kLanes;
        store(sum, load(sum) + a[j]);
        store(product, load(product) + b[j]);
      }
  }

  template <class Lanes>
  [[gnu::always_inline]] void run(Lanes lanes, std::int64_t c) const {
    finish<1, false>(lanes, c);
  }
};

bool streams_x_gradient(const PointwiseBackward& job) {
  return job.x.plain() && job.x_gradient_add != job.x_gradient &&
      streams(job.x_gradient, job.x.rows(), job.x.length());
}

// dX of some rows and panels; rows are taken from dY in blocks.
struct XGradient {
  const PointwiseBackward& job;
  const float* packed;
  const Piece& piece;
  double* parts; // or null
  std::int64_t inputs = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
  float* panel_rows = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  float* gathered = nullptr; // rows that are scattered later
  bool streamed = false; // x_gradient

  void begin(std::int64_t most) {
    inputs = job.x.length();
    streamed = streams_x_gradient(job);
    first_column = piece.panel_begin * kTileColumns;
    const std::int64_t last = piece.panel_end * kTileColumns;
    columns = (last < inputs ? last : inputs) - first_column;
    panel_rows = scratch(1, static_cast<std::size_t>(most * kTileColumns));
    const std::int64_t padded = whole_vectors(columns);
    first = scratch(2, static_cast<std::size_t>(2 * padded));
    second = first + padded;
    clear(2 * padded, first);
    if (!job.x.plain())
      gathered =
          scratch(6, static_cast<std::size_t>(most * whole_vectors(inputs)));
    if (parts != nullptr)
      for (std::int64_t c = first_column; c < first_column + columns; ++c)
        parts[c] = parts[inputs + c] = 0;
  }

  struct Panel {
    const XGradient& all;
    std::int64_t row;
    std::int64_t rows;
    std::int64_t p;
    template <Activation kAct>
    void run() const {
      finish<kAct, true>();
    }
    template <Activation kAct, bool kSums>
    void finish() const {
      const std::int64_t column = p * kTileColumns;
      const std::int64_t local = column - all.first_column;
      const std::int64_t width = panel_width(all.inputs, p);
      const FinishColumns<kAct, kSums> work{
          all.job,
          all.inputs,
          rows,
          row * all.inputs + column,
          column,
          all.panel_rows,
          all.first + local,
          all.second + local};
      if (width % kLineFloats == 0 && all.streamed) {
        if (width == kTileColumns)
          work.template finish<kTileVectors, true>(Whole{}, 0);
        else
          work.template finish<kLineVectors, true>(Whole{}, 0);
      } else if (width == kTileColumns)
        work.template finish<kTileVectors, false>(Whole{}, 0);
      else
        over_vectors(width, work);
    }
  };

  // Rows [row, row + rows), of which dY is `y`.
  void block(std::int64_t row, std::int64_t rows, const float* y, Ahead& ahead)
      const {
    for (std::int64_t p = piece.panel_begin; p < piece.panel_end; ++p) {
      const std::int64_t column = p * kTileColumns;
      const std::int64_t width = panel_width(inputs, p);
      const float* weights = packed + column * job.outputs;
      if (gathered != nullptr) {
        multiply(
            width,
            rows,
            job.outputs,
            y,
            weights,
            gathered + column,
            whole_vectors(inputs),
            ahead);
        continue;
      }
      multiply(
          width,
          rows,
          job.outputs,
          y,
          weights,
          panel_rows,
          kTileColumns,
          ahead);
      const Panel panel{*this, row, rows, p};
      if (parts != nullptr)
        with_activation(job.before.act, panel);
      else
        panel.finish<Activation::kNone, false>();
    }
    if (gathered != nullptr) scatter(row, rows);
    if (parts == nullptr) return;
    drain(columns, first, parts + first_column);
    drain(columns, second, parts + inputs + first_column);
  }

  void scatter(std::int64_t row, std::int64_t rows) const {
    for (std::int64_t r = 0; r < rows; ++r)
      scatter_rows(
          job.x,
          row + r,
          row + r + 1,
          gathered + r * whole_vectors(inputs),
          job.x_gradient);
  }
};

// The memory that the block from `row` on will read and write.
Ahead next_block(
    const PointwiseBackward& job,
    std::int64_t row,
    std::int64_t left,
    std::int64_t most) {
  const std::int64_t rows = left < most ? left : most;
  const std::int64_t inputs = job.x.length();
  Ahead ahead;
  ahead.add(job.gradient + row * job.outputs, rows * job.outputs);
  if (job.after.x != nullptr)
    ahead.add(job.after.x + row * job.outputs, rows * job.outputs);
  if (!job.x.plain()) return ahead;
  ahead.add(job.x.x + row * inputs, rows * inputs);
  if (job.x_gradient == nullptr) return ahead;
  if (job.x_gradient_add != nullptr && job.x_gradient_add != job.x_gradient)
    ahead.add(job.x_gradient_add + row * inputs, rows * inputs);
  if (!streams_x_gradient(job))
    ahead.add(job.x_gradient + row * inputs, rows * inputs);
  return ahead;
}

} // namespace

void pack_inputs(
    std::int64_t inputs,
    std::int64_t outputs,
    const float* weight,
    std::int64_t panel_begin,
    std::int64_t panel_end,
    float* packed) {
  for (std::int64_t p = panel_begin; p < panel_end; ++p) {
    const std::int64_t width = panel_width(inputs, p);
    const std::int64_t wide = whole_vectors(width);
    float* to = packed + p * kTileColumns * outputs;
    for (std::int64_t n = 0; n < outputs; ++n) {
      copy_floats(width, weight + n * inputs + p * kTileColumns, to + n * wide);
      if (wide > width) clear(wide - width, to + n * wide + width);
    }
  }
}

void share_gradient(
    const PointwiseBackward& job,
    std::int64_t begin,
    std::int64_t end,
    float* gradient) {
  const std::int64_t at = begin * job.outputs;
  with_activation(
      job.after.act,
      GradientRows{
          job.after,
          end - begin,
          job.outputs,
          job.gradient + at,
          job.after.x + at,
          gradient});
}

void share_x(
    const PointwiseBackward& job,
    std::int64_t rows,
    std::int64_t begin,
    std::int64_t end,
    float* x) {
  const std::int64_t inputs = job.x.length();
  const float* from = job.x.x + begin * inputs;
  if (!job.x.plain()) {
    float* block = scratch(0, static_cast<std::size_t>((end - begin) * inputs));
    gather_rows(job.x, {}, begin, end, block);
    from = block;
  }
  FillPanels{job.before, end - begin, inputs, from, x, rows, begin}.fill();
}

void x_gradient_of_piece(
    const PointwiseBackward& job,
    const SharedOperands& shared,
    const Piece& piece,
    double* parts) {
  XGradient work{job, shared.weight, piece, parts};
  const std::int64_t most = block_rows(job.x.length(), job.outputs);
  work.begin(most);
  for (std::int64_t r = piece.row_begin; r < piece.row_end; r += most) {
    const std::int64_t stop =
        r + most < piece.row_end ? r + most : piece.row_end;
    Ahead ahead; // the block's own: its operands are in a cache
    if (job.x.plain()) {
      const std::int64_t inputs = job.x.length();
      ahead.add(job.x_gradient + r * inputs, (stop - r) * inputs);
      if (parts != nullptr)
        ahead.add(job.x.x + r * inputs, (stop - r) * inputs);
    }
    work.block(r, stop - r, shared.gradient + r * job.outputs, ahead);
  }
}

void weight_gradient_of_outputs(
    const PointwiseBackward& job,
    const SharedOperands& shared,
    std::int64_t begin,
    std::int64_t end) {
  const std::int64_t rows = job.x.rows();
  const std::int64_t inputs = job.x.length();
  const std::int64_t stride = whole_vectors(inputs);
  const std::int64_t outputs = end - begin;
  const std::int64_t floats = (outputs + 3) / 4 * 4 * stride;
  float* sums = scratch(2, static_cast<std::size_t>(floats));
  clear(floats, sums);
  Ahead ahead; // both operands are in a cache
  for (std::int64_t r = 0; r < rows; r += kChainRows) {
    const std::int64_t count = rows - r < kChainRows ? rows - r : kChainRows;
    outer_product(
        count,
        outputs,
        shared.gradient + r * job.outputs + begin,
        job.outputs,
        XPanels{shared.x, rows, inputs, r, r + count < rows},
        sums,
        stride,
        ahead);
  }
  for (std::int64_t n = 0; n < outputs; ++n)
    copy_floats(
        inputs, sums + n * stride, job.weight_gradient + (begin + n) * inputs);
}

void backward_rows(
    const PointwiseBackward& job,
    const float* packed,
    const Piece& piece,
    float* partial,
    double* parts) {
  const std::int64_t inputs = job.x.length();
  const std::int64_t most = block_rows(inputs, job.outputs);
  const std::int64_t stride = whole_vectors(inputs);
  float* dy = scratch(0, static_cast<std::size_t>(most * job.outputs));
  float* panels = scratch(4, static_cast<std::size_t>(most * stride));
  float* block = nullptr;
  if (!job.x.plain())
    block = scratch(5, static_cast<std::size_t>(most * inputs));
  clear((job.outputs + 3) / 4 * 4 * stride, partial);
  XGradient work{job, packed, piece, parts};
  if (job.x_gradient != nullptr) work.begin(most);
  for (std::int64_t r = piece.row_begin; r < piece.row_end; r += most) {
    const std::int64_t stop =
        r + most < piece.row_end ? r + most : piece.row_end;
    const std::int64_t rows = stop - r;
    const float* y = job.gradient + r * job.outputs;
    if (job.after.x != nullptr) {
      share_gradient(job, r, stop, dy);
      y = dy;
    }
    const float* x = job.x.x + r * inputs;
    if (block != nullptr) {
      gather_rows(job.x, {}, r, stop, block);
      x = block;
    }
    FillPanels{job.before, rows, inputs, x, panels, rows, 0}.fill();
    Ahead ahead = next_block(job, stop, piece.row_end - stop, most);
    outer_product(
        rows,
        job.outputs,
        y,
        job.outputs,
        XPanels{panels, rows, inputs, 0, false},
        partial,
        stride,
        ahead);
    if (job.x_gradient != nullptr) work.block(r, rows, y, ahead);
  }
  if (work.streamed) end_streams();
}

} // namespace temper::kernels::TEMPER_TARGET
