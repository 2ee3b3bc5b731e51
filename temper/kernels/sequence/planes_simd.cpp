#include "temper/kernels/sequence/planes.h"
#include "temper/kernels/simd/transpose.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// So many rows become a cache line of each column, which is then written whole.
constexpr std::int64_t kLine = kLanes < 16 ? 16 : kLanes;

void transpose_one_by_one(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t begin,
    std::int64_t end,
    std::int64_t first_column,
    const float* from,
    float* to) {
  for (std::int64_t c = first_column; c < columns; ++c)
    for (std::int64_t r = begin; r < end; ++r)
      to[c * rows + r] = from[r * columns + c];
}

void transpose_rows(
    std::int64_t rows,
    std::int64_t columns,
    std::int64_t begin,
    std::int64_t end,
    const float* from,
    float* to) {
  std::int64_t line = begin;
  for (; line + kLine <= end; line += kLine) {
    std::int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes)
      for (std::int64_t r = line; r < line + kLine; r += kLanes)
        transpose_block(
            from + r * columns + c, columns, to + c * rows + r, rows);
    transpose_one_by_one(rows, columns, line, line + kLine, c, from, to);
  }
  transpose_one_by_one(rows, columns, line, end, 0, from, to);
}

} // namespace

extern const PlanesTable planes_table;
const PlanesTable planes_table{transpose_rows};

} // namespace temper::kernels::TEMPER_TARGET
