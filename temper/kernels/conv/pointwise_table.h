// The vector code behind pointwise.h. The driver, pointwise.cpp, cuts the work;
// these functions do one piece each.
// Private to kernels/conv.
#pragma once

#include <cstdint>

#include "temper/kernels/conv/pointwise.h"

namespace temper::kernels {

// Rows by columns of a result; columns are counted in panels.
struct Piece {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t panel_begin = 0;
  std::int64_t panel_end = 0;
};

// Rows of a block that goes through the caches at once.
[[gnu::always_inline]] inline std::int64_t block_rows(
    std::int64_t inputs,
    std::int64_t outputs) {
  const std::int64_t fit = 98304 / (inputs + outputs) / 12 * 12;
  return fit < 24 ? 24 : fit > 96 ? 96 : fit;
}

// Operands of a backward pass that several pieces share.
struct SharedOperands {
  const float* weight = nullptr; // packed by pack_inputs
  const float* gradient = nullptr; // dY, [rows, outputs]
  // before(x rows) in panels of `columns`, each [rows, columns]; the last panel
  // is as wide as its whole vectors.
  const float* x = nullptr;
};

struct PointwiseTable {
  std::int64_t columns; // of a panel
  std::int64_t lanes;
  std::int64_t outputs_at_once; // of a weight gradient's tile

  // Panels of outputs, [row length, columns] each; and of inputs, [outputs,
  // columns].
  void (*pack_outputs)(
      std::int64_t inputs,
      std::int64_t outputs,
      const float* weight,
      std::int64_t panel_begin,
      std::int64_t panel_end,
      float* packed);
  void (*pack_inputs)(
      std::int64_t inputs,
      std::int64_t outputs,
      const float* weight,
      std::int64_t panel_begin,
      std::int64_t panel_end,
      float* packed);

  // before(x rows) of [begin, end), one after another.
  void (*read_rows)(
      const RowSource& x,
      const Affine& before,
      std::int64_t begin,
      std::int64_t end,
      float* rows);

  // `ready`: all rows, already read; null: read here. `parts`: moments of the
  // piece's rows (norm/batch_norm_table.h), or null.
  void (*forward)(
      const PointwiseForward& job,
      const float* packed,
      const float* ready,
      const Piece& piece,
      double* parts);

  // Rows of a piece through both gradients. `partial`: [outputs rounded up to
  // 4, inputs rounded up to lanes], is cleared first.
  void (*backward)(
      const PointwiseBackward& job,
      const float* packed,
      const Piece& piece,
      float* partial,
      double* parts);

  // Few rows: the operands, then the gradient of x, then that of the weights.
  void (*share_gradient)(
      const PointwiseBackward& job,
      std::int64_t begin,
      std::int64_t end,
      float* gradient);
  void (*share_x)(
      const PointwiseBackward& job,
      std::int64_t rows,
      std::int64_t begin,
      std::int64_t end,
      float* x);
  void (*x_gradient)(
      const PointwiseBackward& job,
      const SharedOperands& shared,
      const Piece& piece,
      double* parts);
  // Outputs [begin, end).
  void (*weight_gradient)(
      const PointwiseBackward& job,
      const SharedOperands& shared,
      std::int64_t begin,
      std::int64_t end);
};

} // namespace temper::kernels
