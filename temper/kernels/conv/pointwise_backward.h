// Backward of pointwise.h, as its table wants it. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/pointwise_table.h"
#include "temper/kernels/simd/vector.h"

namespace temper::kernels::TEMPER_TARGET {

// A weight gradient's tile: as many outputs as a result's tile has rows.
constexpr std::int64_t kOutputsAtOnce = kTileRows;

void pack_inputs(
    std::int64_t inputs,
    std::int64_t outputs,
    const float* weight,
    std::int64_t panel_begin,
    std::int64_t panel_end,
    float* packed);
void backward_rows(
    const PointwiseBackward& job,
    const float* packed,
    const Piece& piece,
    float* partial,
    double* parts);
void share_gradient(
    const PointwiseBackward& job,
    std::int64_t begin,
    std::int64_t end,
    float* gradient);
void share_x(
    const PointwiseBackward& job,
    std::int64_t rows,
    std::int64_t begin,
    std::int64_t end,
    float* x);
void x_gradient_of_piece(
    const PointwiseBackward& job,
    const SharedOperands& shared,
    const Piece& piece,
    double* parts);
void weight_gradient_of_outputs(
    const PointwiseBackward& job,
    const SharedOperands& shared,
    std::int64_t begin,
    std::int64_t end);

} // namespace temper::kernels::TEMPER_TARGET
