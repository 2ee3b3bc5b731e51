#include "temper/kernels/sequence/layer_norm.h"

#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

constexpr std::int64_t kNormRows = 64;
constexpr std::int64_t kNormCost = 16; // of a number, in multiply-adds

void norm_forward(const LayerNormForward& f) {
  const RowNorm norm{f.columns, f.weight, f.bias};
  for_each_chunk_of(
      f.rows * f.columns * kNormCost,
      (f.rows + kNormRows - 1) / kNormRows,
      [&](std::int64_t chunk) {
        const std::int64_t end = (chunk + 1) * kNormRows;
        for (std::int64_t i = chunk * kNormRows; i < end && i < f.rows; ++i) {
          const float* x = f.x + i * f.x_stride;
          const RowMoments moments = moments_of(x, f.columns, f.eps);
          normalise_row(norm, moments, x, f.y + i * f.columns);
          if (f.mean != nullptr) f.mean[i] = moments.mean;
          if (f.inverse != nullptr) f.inverse[i] = moments.inverse;
        }
      });
}

void norm_backward(const LayerNormBackward& b) {
  const RowNorm norm{b.columns, b.weight, nullptr};
  const std::int64_t parts = partial_sums(b.rows, 4 * b.columns);
  const bool sums = b.dweight != nullptr || b.dbias != nullptr;
  // Each part has sums over kNormRows rows, and those added up.
  float* memory = scratch(0, static_cast<std::size_t>(parts * 4 * b.columns));
  for_each_chunk_of(
      b.rows * b.columns * kNormCost, parts, [&](std::int64_t part) {
        const ChunkRange range = chunk_range(b.rows, kNormRows, parts, part);
        float* total = memory + part * 4 * b.columns;
        float* few = total + 2 * b.columns;
        for (std::int64_t i = 0; i < 4 * b.columns; ++i)
          total[i] = 0.0f;
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          RowNormBackward row;
          row.gradient = b.gradient + i * b.columns;
          row.x = b.x + i * b.x_stride;
          row.dx = b.dx == nullptr ? nullptr : b.dx + i * b.columns;
          row.dweight = sums ? few : nullptr;
          row.dbias = sums ? few + b.columns : nullptr;
          normalise_row_backward(norm, {b.mean[i], b.inverse[i]}, row);
          if ((i + 1) % kNormRows != 0 && i + 1 < range.end) continue;
          for (std::int64_t c = 0; c < 2 * b.columns; ++c) {
            total[c] += few[c];
            few[c] = 0.0f;
          }
        }
      });
  const std::int64_t apart = 4 * b.columns;
  if (b.dweight != nullptr)
    add_parts(memory, apart, parts, 0, b.columns, b.dweight);
  if (b.dbias != nullptr)
    add_parts(memory + b.columns, apart, parts, 0, b.columns, b.dbias);
}

} // namespace

extern const LayerNormTable layer_norm_table;
const LayerNormTable layer_norm_table{norm_forward, norm_backward};

} // namespace temper::kernels::TEMPER_TARGET
