#include "temper/kernels/sequence/rows.h"

#include "temper/kernels/sequence/elementary.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Calls work(column, lanes) for whole vectors and then for the rest.
template <class Whole, class Rest>
[[gnu::always_inline]] inline void
along(std::int64_t columns, const Whole& whole, const Rest& rest) {
  std::int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes)
    whole(c);
  if (c < columns) rest(c, static_cast<int>(columns - c));
}

[[gnu::always_inline]] inline Vec
load_or(const float* from, std::int64_t at, int count, float otherwise) {
  if (from == nullptr) return broadcast(otherwise);
  return count == kLanes ? load(from + at) : load_some(from + at, count);
}

[[gnu::always_inline]] inline void put(float* to, Vec value, int count) {
  if (count == kLanes)
    store(to, value);
  else
    store_some(to, value, count);
}

// work(column, lanes) with lanes a constant wherever a whole vector is left.
template <class Work>
[[gnu::always_inline]] inline void over_columns(
    std::int64_t columns,
    const Work& work) {
  along(
      columns,
      [&](std::int64_t c) { work(c, kLanes); },
      [&](std::int64_t c, int count) { work(c, count); });
}

} // namespace

RowMoments moments_of(const float* x, std::int64_t columns, double eps) {
  Vec sum0 = {};
  Vec sum1 = {};
  std::int64_t c = 0;
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    sum0 += load(x + c);
    sum1 += load(x + c + kLanes);
  }
  over_columns(columns - c, [&](std::int64_t at, int count) {
    sum0 += load_or(x + c, at, count, 0);
  });
  const float count = static_cast<float>(columns);
  const float mean = fold_sum(sum0 + sum1) / count;
  const Vec centre = broadcast(mean);
  Vec square0 = {};
  Vec square1 = {};
  for (c = 0; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    const Vec d0 = load(x + c) - centre;
    const Vec d1 = load(x + c + kLanes) - centre;
    square0 += d0 * d0;
    square1 += d1 * d1;
  }
  for (; c + kLanes <= columns; c += kLanes) {
    const Vec d = load(x + c) - centre;
    square0 += d * d;
  }
  float rest = 0;
  for (; c < columns; ++c)
    rest += (x[c] - mean) * (x[c] - mean);
  const double variance =
      static_cast<double>(fold_sum(square0 + square1) + rest) /
      static_cast<double>(columns);
  return {mean, static_cast<float>(1.0 / __builtin_sqrt(variance + eps))};
}

void normalise_row(
    const RowNorm& norm,
    const RowMoments& moments,
    const float* x,
    float* y) {
  const Vec mean = broadcast(moments.mean);
  const Vec inverse = broadcast(moments.inverse);
  over_columns(norm.columns, [&](std::int64_t c, int count) {
    const Vec h = (load_or(x, c, count, 0) - mean) * inverse;
    put(y + c,
        h * load_or(norm.weight, c, count, 1) + load_or(norm.bias, c, count, 0),
        count);
  });
}

void normalise_to_block(
    const RowNorm& norm,
    const RowMoments& moments,
    const float* x,
    float* block,
    std::int64_t capacity,
    std::int64_t row) {
  for (std::int64_t c = 0; c < norm.columns; c += kSlice) {
    RowNorm part = norm;
    part.columns = norm.columns - c < kSlice ? norm.columns - c : kSlice;
    if (part.weight != nullptr) part.weight += c;
    if (part.bias != nullptr) part.bias += c;
    normalise_row(part, moments, x + c, in_block(block, capacity, row, c));
  }
}

void normalise_row_backward(
    const RowNorm& norm,
    const RowMoments& moments,
    const RowNormBackward& row) {
  const Vec mean = broadcast(moments.mean);
  const Vec inverse = broadcast(moments.inverse);
  Vec sum = {};
  Vec moved = {};
  over_columns(norm.columns, [&](std::int64_t c, int count) {
    const Vec g = load_or(row.gradient, c, count, 0);
    const Vec h = (load_or(row.x, c, count, 0) - mean) * inverse;
    if (row.dweight != nullptr)
      put(row.dweight + c, load_or(row.dweight, c, count, 0) + g * h, count);
    if (row.dbias != nullptr)
      put(row.dbias + c, load_or(row.dbias, c, count, 0) + g, count);
    const Vec scaled = g * load_or(norm.weight, c, count, 1);
    sum += scaled;
    // Lanes beyond the last column have a gradient of zero.
    moved += scaled * h;
  });
  if (row.dx == nullptr) return;
  const float share = 1.0f / static_cast<float>(norm.columns);
  const Vec shift = broadcast(fold_sum(sum) * share);
  const Vec slope = broadcast(fold_sum(moved) * share);
  over_columns(norm.columns, [&](std::int64_t c, int count) {
    const Vec h = (load_or(row.x, c, count, 0) - mean) * inverse;
    const Vec scaled =
        load_or(row.gradient, c, count, 0) * load_or(norm.weight, c, count, 1);
    Vec dx = inverse * (scaled - shift - h * slope);
    if (row.residual != nullptr) dx += load_or(row.residual, c, count, 0);
    put(row.dx + c, dx, count);
  });
}

void add_columns(
    const float* x,
    std::int64_t stride,
    std::int64_t rows,
    std::int64_t columns,
    float* sums) {
  over_columns(columns, [&](std::int64_t c, int count) {
    Vec sum = {};
    for (std::int64_t i = 0; i < rows; ++i)
      sum += load_or(x + i * stride, c, count, 0);
    put(sums + c, load_or(sums, c, count, 0) + sum, count);
  });
}

void activate_rows(const ActivateRows& work) {
  with_activation(work.act, [&]<Activation kAct>() {
    for (std::int64_t i = 0; i < work.rows; ++i) {
      const std::int64_t at = i * work.stride;
      over_columns(work.columns, [&](std::int64_t c, int count) {
        Vec y = activate<kAct>(load_or(work.from + at, c, count, 0));
        if (work.residual != nullptr)
          y += load_or(work.residual + at, c, count, 0);
        put(work.to + at + c, y, count);
      });
    }
  });
}

void activate_to_block(
    const ActivateRows& work,
    float* block,
    std::int64_t capacity) {
  with_activation(work.act, [&]<Activation kAct>() {
    for (std::int64_t i = 0; i < work.rows; ++i)
      for (std::int64_t first = 0; first < work.columns; first += kSlice) {
        const float* from = work.from + i * work.stride + first;
        float* to = in_block(block, capacity, i, first);
        const std::int64_t left = work.columns - first;
        over_columns(
            left < kSlice ? left : kSlice, [&](std::int64_t c, int count) {
              put(to + c, activate<kAct>(load_or(from, c, count, 0)), count);
            });
      }
  });
}

void activate_rows_backward(const ActivateBackward& work) {
  with_activation(work.act, [&]<Activation kAct>() {
    for (std::int64_t i = 0; i < work.rows; ++i) {
      const float* x = work.x + i * work.x_stride;
      const float* g = work.gradient + i * work.gradient_stride;
      float* dx = work.dx + i * work.dx_stride;
      float* value = work.value + i * work.value_stride;
      over_columns(work.columns, [&](std::int64_t c, int count) {
        const ValueAndGradient both = activate_backward<kAct>(
            load_or(x, c, count, 0), load_or(g, c, count, 0));
        put(dx + c, both.gradient, count);
        if (work.value != nullptr) put(value + c, both.value, count);
      });
    }
  });
}

void add_parts(
    const float* parts,
    std::int64_t distance,
    std::int64_t count,
    std::int64_t begin,
    std::int64_t end,
    float* to) {
  over_columns(end - begin, [&](std::int64_t c, int lanes) {
    Vec sum = load_or(parts + begin, c, lanes, 0);
    for (std::int64_t part = 1; part < count; ++part)
      sum += load_or(parts + part * distance + begin, c, lanes, 0);
    put(to + begin + c, sum, lanes);
  });
}

} // namespace temper::kernels::TEMPER_TARGET
