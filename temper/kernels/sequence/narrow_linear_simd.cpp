// The product is cut along the inputs: each chunk has a sum of its own for
// every element, and they are added in double in the order of chunks. Gradients
// have no sums along the inputs, so that chunks write their columns and are
// done.
#include "temper/kernels/sequence/narrow_linear.h"

#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

constexpr int kPartialsSlot = 1;
// A lane adds up as many products on every unit: longer chains would round more
// on narrow ones.
constexpr std::int64_t kInputsAtOnce = std::int64_t{256} * kLanes;
constexpr std::int64_t kColumnsOfGradients = 1024; // a page of every row
constexpr int kRowsOfTile = 4;
// Twenty sums where there are 32 registers, eight where there are 16.
#if TEMPER_LANES == 16 || defined(__aarch64__)
constexpr int kOutputsOfTile = 5;
#else
constexpr int kOutputsOfTile = 2;
#endif

// to[i, j] = sum over `depth` of x[i, k] w[j, k].
template <int kRows, int kOutputs>
[[gnu::always_inline]] inline void dot_tile(
    std::int64_t depth,
    const float* x,
    std::int64_t x_stride,
    const float* w,
    std::int64_t w_stride,
    float* to,
    std::int64_t to_stride) {
  Vec sums[kRows][kOutputs] = {};
  std::int64_t k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    Vec rows[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i)
      rows[i] = load(x + i * x_stride + k);
#pragma GCC unroll 5
    for (int j = 0; j < kOutputs; ++j) {
      const Vec by = load(w + j * w_stride + k);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i)
        sums[i][j] += rows[i] * by;
    }
  }
  const int rest = static_cast<int>(depth - k);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kOutputs; ++j) {
      if (rest > 0)
        sums[i][j] += load_some(x + i * x_stride + k, rest) *
            load_some(w + j * w_stride + k, rest);
      to[i * to_stride + j] = sum_of_lanes(sums[i][j]);
    }
}

template <int kRows>
void dot_rows(
    const LinearForward& f,
    std::int64_t row,
    std::int64_t begin,
    std::int64_t depth,
    float* to) {
  const float* x = f.x + row * f.x_stride + begin;
  const float* w = f.weight + begin;
  std::int64_t j = 0;
  for (; j + kOutputsOfTile <= f.out; j += kOutputsOfTile)
    dot_tile<kRows, kOutputsOfTile>(
        depth, x, f.x_stride, w + j * f.in, f.in, to + row * f.out + j, f.out);
  for (; j < f.out; ++j)
    dot_tile<kRows, 1>(
        depth, x, f.x_stride, w + j * f.in, f.in, to + row * f.out + j, f.out);
}

// to[i, k] = sum over j of left[i, j] right[j, k] for kRows rows i and kVectors
// vectors k; left[i, j] lies at left[i * row_step + j * depth_step].
template <int kRows, int kVectors>
[[gnu::always_inline]] inline void combine_tile(
    std::int64_t depth,
    const float* left,
    std::int64_t row_step,
    std::int64_t depth_step,
    const float* right,
    std::int64_t right_stride,
    float* to,
    std::int64_t to_stride) {
  Vec sums[kRows][kVectors] = {};
  for (std::int64_t j = 0; j < depth; ++j) {
    Vec some[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      some[v] = load(right + j * right_stride + v * kLanes);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const Vec factor = broadcast(left[i * row_step + j * depth_step]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[i][v] += factor * some[v];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      store(to + i * to_stride + v * kLanes, sums[i][v]);
}

// Columns that fill no vector, one by one.
void combine_rest(
    std::int64_t depth,
    const float* left,
    std::int64_t depth_step,
    const float* right,
    std::int64_t right_stride,
    std::int64_t columns,
    float* to) {
  for (std::int64_t k = 0; k < columns; ++k) {
    float sum = 0;
    for (std::int64_t j = 0; j < depth; ++j)
      sum += left[j * depth_step] * right[j * right_stride + k];
    to[k] = sum;
  }
}

// to[rows, columns] = left * right, both read as they lie.
struct Combination {
  std::int64_t rows;
  std::int64_t depth;
  const float* left;
  std::int64_t row_step;
  std::int64_t depth_step;
  const float* right;
  std::int64_t right_stride;
  float* to;
  std::int64_t to_stride;

  template <int kVectors>
  void vectors_at(std::int64_t k) const {
    std::int64_t i = 0;
    for (; i + kRowsOfTile <= rows; i += kRowsOfTile)
      combine_tile<kRowsOfTile, kVectors>(
          depth,
          left + i * row_step,
          row_step,
          depth_step,
          right + k,
          right_stride,
          to + i * to_stride + k,
          to_stride);
    for (; i < rows; ++i)
      combine_tile<1, kVectors>(
          depth,
          left + i * row_step,
          row_step,
          depth_step,
          right + k,
          right_stride,
          to + i * to_stride + k,
          to_stride);
  }

  void run(std::int64_t columns) const {
    std::int64_t k = 0;
    for (; k + 2 * kLanes <= columns; k += 2 * kLanes)
      vectors_at<2>(k);
    for (; k + kLanes <= columns; k += kLanes)
      vectors_at<1>(k);
    if (k == columns) return;
    for (std::int64_t i = 0; i < rows; ++i)
      combine_rest(
          depth,
          left + i * row_step,
          depth_step,
          right + k,
          right_stride,
          columns - k,
          to + i * to_stride + k);
  }
};

} // namespace

void narrow_product(const LinearForward& f, float* to) {
  const std::int64_t size = f.rows * f.out;
  const std::int64_t chunks = (f.in + kInputsAtOnce - 1) / kInputsAtOnce;
  float* parts =
      scratch(kPartialsSlot, static_cast<std::size_t>(chunks * size));
  for_each_chunk_of(size * f.in, chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * kInputsAtOnce;
    const std::int64_t left = f.in - begin;
    const std::int64_t depth = left < kInputsAtOnce ? left : kInputsAtOnce;
    float* part = parts + chunk * size;
    std::int64_t row = 0;
    for (; row + kRowsOfTile <= f.rows; row += kRowsOfTile)
      dot_rows<kRowsOfTile>(f, row, begin, depth, part);
    for (; row < f.rows; ++row)
      dot_rows<1>(f, row, begin, depth, part);
  });
  for (std::int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      sum += static_cast<double>(parts[chunk * size + i]);
    to[i] = static_cast<float>(sum);
  }
}

void narrow_gradients(const LinearBackward& b, const float* gradient) {
  const std::int64_t chunks =
      (b.in + kColumnsOfGradients - 1) / kColumnsOfGradients;
  for_each_chunk_of(b.rows * b.out * b.in, chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * kColumnsOfGradients;
    const std::int64_t left = b.in - begin;
    const std::int64_t columns =
        left < kColumnsOfGradients ? left : kColumnsOfGradients;
    if (b.dx != nullptr)
      Combination{
          b.rows,
          b.out,
          gradient,
          b.out,
          1,
          b.weight + begin,
          b.in,
          b.dx + begin,
          b.in}
          .run(columns);
    if (b.dweight != nullptr)
      Combination{
          b.out,
          b.rows,
          gradient,
          1,
          b.out,
          b.x + begin,
          b.x_stride,
          b.dweight + begin,
          b.in}
          .run(columns);
  });
}

} // namespace temper::kernels::TEMPER_TARGET
