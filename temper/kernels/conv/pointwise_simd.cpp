// Forward of pointwise.h, the packing of its weights, and the table.
//
// A block of rows is read once, through the normalisation before it, into
// memory that stays in the second-level cache; panel after panel of weights
// then passes over it. A panel's results are counted into the moments while
// they are in the first-level cache.
#include "temper/kernels/conv/pointwise_backward.h"
#include "temper/kernels/conv/pointwise_panel.h"
#include "temper/kernels/conv/pointwise_table.h"
#include "temper/kernels/conv/row_source_simd.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/transpose.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

void pack_outputs(
    std::int64_t inputs,
    std::int64_t outputs,
    const float* weight,
    std::int64_t panel_begin,
    std::int64_t panel_end,
    float* packed) {
  for (std::int64_t p = panel_begin; p < panel_end; ++p) {
    const std::int64_t width = panel_width(outputs, p);
    const std::int64_t wide = whole_vectors(width);
    const float* from = weight + p * kTileColumns * inputs;
    float* to = packed + p * kTileColumns * inputs;
    const std::int64_t whole = width / kLanes * kLanes;
    std::int64_t k = 0;
    for (; k + kLanes <= inputs; k += kLanes)
      for (std::int64_t j = 0; j < whole; j += kLanes)
        transpose_block(from + j * inputs + k, inputs, to + k * wide + j, wide);
    for (std::int64_t j = 0; j < wide; ++j)
      for (std::int64_t rest = j < whole ? k : 0; rest < inputs; ++rest)
        to[rest * wide + j] = j < width ? from[j * inputs + rest] : 0.0F;
  }
}

void read_rows(
    const RowSource& x,
    const Affine& before,
    std::int64_t begin,
    std::int64_t end,
    float* rows) {
  gather_rows(x, before, begin, end, rows);
}

struct CopyColumns {
  std::int64_t rows;
  const float* from;
  std::int64_t from_stride;
  float* to;
  std::int64_t to_stride;

  template <class Lanes>
  [[gnu::always_inline]] void run(Lanes lanes, std::int64_t c) const {
    for (std::int64_t r = 0; r < rows; ++r)
      lanes.store(to + r * to_stride + c, load(from + r * from_stride + c));
  }
};

// A normalisation of results while they are in the cache: a panel's in the
// first level, or with a residual those of a block in the second.
template <Activation kAct, Residual kPlace>
struct EndVectors {
  const NormApply& job;
  std::int64_t begin;
  std::int64_t rows;
  std::int64_t column;

  template <class Lanes>
  [[gnu::always_inline]] void run(Lanes lanes, std::int64_t c) const {
    for (std::int64_t r = begin; r < begin + rows; ++r)
      apply_vector<kAct, kPlace>(
          lanes, job, r * job.channels + column + c, column + c);
  }
};

struct EndColumns {
  const NormApply& job;
  std::int64_t begin;
  std::int64_t rows;
  std::int64_t column;
  std::int64_t width;

  template <Activation kAct>
  void run() const {
    switch (job.residual_place) {
      case Residual::kNone:
        return all<kAct, Residual::kNone>();
      case Residual::kBeforeActivation:
        return all<kAct, Residual::kBeforeActivation>();
      case Residual::kAfterActivation:
        return all<kAct, Residual::kAfterActivation>();
    }
  }
  template <Activation kAct, Residual kPlace>
  void all() const {
    if constexpr (kPlace == Residual::kNone)
      return over_vectors(
          width, EndVectors<kAct, kPlace>{job, begin, rows, column});
    for (std::int64_t r = begin; r < begin + rows; ++r) // as the residual lies
      over_vectors(width, EndVectors<kAct, kPlace>{job, r, 1, column});
  }
};

struct PointwiseForwardPiece {
  const PointwiseForward& job;
  const float* packed;
  const float* ready;
  const Piece& piece;
  double* parts;
  std::int64_t inputs = 0;
  std::int64_t first_column = 0;
  std::int64_t columns = 0; // of the piece
  float* block = nullptr;
  float* panel_rows = nullptr; // for a panel that ends inside a vector
  float* pivot = nullptr;
  float* first = nullptr;
  float* second = nullptr;

  const float* rows_at(std::int64_t begin, std::int64_t end) const {
    if (ready != nullptr) return ready + begin * inputs;
    if (job.x.plain() && job.before.scale == nullptr)
      return job.x.x + begin * inputs;
    gather_rows(job.x, job.before, begin, end, block);
    return block;
  }

  // The memory that the block from `row` on will read and write.
  Ahead next_block(std::int64_t row, std::int64_t most) const {
    const std::int64_t left = piece.row_end - row;
    const std::int64_t rows = left < most ? left : most;
    Ahead ahead;
    if (ready == nullptr && job.x.plain())
      ahead.add(job.x.x + row * inputs, rows * inputs);
    if (columns == job.outputs)
      ahead.add(job.y + row * job.outputs, rows * job.outputs);
    return ahead;
  }

  void panel(
      std::int64_t p,
      std::int64_t begin,
      std::int64_t rows,
      const float* a,
      Ahead& ahead) const {
    const std::int64_t width = panel_width(job.outputs, p);
    const std::int64_t column = p * kTileColumns;
    const float* weights = packed + column * inputs;
    float* y = job.y + begin * job.outputs + column;
    if (width % kLanes == 0) {
      multiply(width, rows, inputs, a, weights, y, job.outputs, ahead);
    } else {
      multiply(
          width, rows, inputs, a, weights, panel_rows, kTileColumns, ahead);
      over_vectors(
          width, CopyColumns{rows, panel_rows, kTileColumns, y, job.outputs});
    }
    if (job.ending != nullptr && job.ending->residual == nullptr)
      end_columns(begin, rows, column, width);
    if (parts == nullptr) return;
    if (begin == piece.row_begin) take_pivots(rows, column, width, y);
    const std::int64_t at = column - first_column;
    over_vectors(
        width,
        CountColumns{
            rows, y, job.outputs, pivot + at, first + at, second + at});
  }

  void end_columns(
      std::int64_t begin,
      std::int64_t rows,
      std::int64_t column,
      std::int64_t width) const {
    with_activation(
        job.ending->norm.act,
        EndColumns{*job.ending, begin, rows, column, width});
  }

  // From the first rows of the piece.
  void take_pivots(
      std::int64_t rows,
      std::int64_t column,
      std::int64_t width,
      const float* y) const {
    float* at = pivot + (column - first_column);
    find_pivot(rows, width, y, job.outputs, at);
    for (std::int64_t c = 0; c < width; ++c) {
      parts[column + c] = static_cast<double>(at[c]);
      parts[job.outputs + column + c] = 0;
      parts[2 * job.outputs + column + c] = 0;
    }
  }

  void run() {
    inputs = job.x.length();
    first_column = piece.panel_begin * kTileColumns;
    const std::int64_t last = piece.panel_end * kTileColumns;
    columns = (last < job.outputs ? last : job.outputs) - first_column;
    const std::int64_t most = block_rows(inputs, job.outputs);
    block = scratch(0, static_cast<std::size_t>(most * inputs));
    panel_rows = scratch(1, static_cast<std::size_t>(most * kTileColumns));
    const std::int64_t padded = whole_vectors(columns);
    pivot = scratch(2, static_cast<std::size_t>(3 * padded));
    first = pivot + padded;
    second = first + padded;
    clear(3 * padded, pivot);
    for (std::int64_t r = piece.row_begin; r < piece.row_end; r += most) {
      const std::int64_t stop =
          r + most < piece.row_end ? r + most : piece.row_end;
      const float* a = rows_at(r, stop);
      Ahead ahead = next_block(stop, most);
      for (std::int64_t p = piece.panel_begin; p < piece.panel_end; ++p)
        panel(p, r, stop - r, a, ahead);
      if (job.ending != nullptr && job.ending->residual != nullptr)
        end_columns(r, stop - r, first_column, columns);
      if (parts == nullptr) continue;
      drain(columns, first, parts + job.outputs + first_column);
      drain(columns, second, parts + 2 * job.outputs + first_column);
    }
  }
};

void pointwise_forward_piece(
    const PointwiseForward& job,
    const float* packed,
    const float* ready,
    const Piece& piece,
    double* parts) {
  PointwiseForwardPiece{job, packed, ready, piece, parts}.run();
}

} // namespace

extern const PointwiseTable pointwise_table;
const PointwiseTable pointwise_table = {
    kTileColumns,
    kLanes,
    kOutputsAtOnce,
    pack_outputs,
    pack_inputs,
    read_rows,
    pointwise_forward_piece,
    backward_rows,
    share_gradient,
    share_x,
    x_gradient_of_piece,
    weight_gradient_of_outputs};

} // namespace temper::kernels::TEMPER_TARGET
