// Gathering and scattering rows of row_source.h. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/row_source.h"
#include "temper/kernels/norm/norm_rows.h"

namespace temper::kernels::TEMPER_TARGET {

inline void copy_floats(std::int64_t count, const float* from, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(to + i, load(from + i));
  for (; i < count; ++i)
    to[i] = from[i];
}

inline void add_floats(std::int64_t count, const float* from, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(to + i, load(to + i) + load(from + i));
  for (; i < count; ++i)
    to[i] += from[i];
}

// Calls visit(offset in x, offset in row, floats) for every run of a row's
// numbers that lies in the image; visit.outside(offset in row, floats) for what
// is padding.
template <class Visit>
[[gnu::always_inline]] inline void
visit_row(const RowSource& x, std::int64_t row, const Visit& visit) {
  const std::int64_t out_width = x.out_width();
  const std::int64_t out_height = x.out_height();
  const std::int64_t column = row % out_width * x.stride - x.padding;
  const std::int64_t line = row / out_width % out_height * x.stride - x.padding;
  const std::int64_t image = row / out_width / out_height;
  const std::int64_t from = column < 0 ? -column : 0;
  const std::int64_t room = x.width - column;
  const std::int64_t to = room < x.kernel ? room : x.kernel;
  const std::int64_t run = x.kernel * x.channels;
  for (std::int64_t k = 0; k < x.kernel; ++k) {
    const std::int64_t y = line + k;
    if (y < 0 || y >= x.height || to <= from) {
      visit.outside(k * run, run);
      continue;
    }
    if (from > 0) visit.outside(k * run, from * x.channels);
    visit.inside(
        ((image * x.height + y) * x.width + column + from) * x.channels,
        k * run + from * x.channels,
        (to - from) * x.channels);
    if (to < x.kernel)
      visit.outside(k * run + to * x.channels, (x.kernel - to) * x.channels);
  }
}

struct GatherRow {
  const float* x;
  float* row;
  void inside(std::int64_t at, std::int64_t to, std::int64_t count) const {
    copy_floats(count, x + at, row + to);
  }
  void outside(std::int64_t to, std::int64_t count) const {
    clear(count, row + to);
  }
};

struct ScatterRow {
  float* x;
  const float* row;
  void inside(std::int64_t at, std::int64_t from, std::int64_t count) const {
    add_floats(count, row + from, x + at);
  }
  void outside(std::int64_t, std::int64_t) const {}
};

// Rows [begin, end) one after another, before(x) if there is a `before`.
inline void gather_rows(
    const RowSource& x,
    const Affine& before,
    std::int64_t begin,
    std::int64_t end,
    float* rows) {
  const std::int64_t length = x.length();
  if (x.plain()) {
    const float* from = x.x + begin * length;
    if (before.scale == nullptr)
      copy_floats((end - begin) * length, from, rows);
    else
      with_activation(
          before.act,
          AffineRows{before, end - begin, length, from, length, rows, length});
    return;
  }
  for (std::int64_t r = begin; r < end; ++r)
    visit_row(x, r, GatherRow{x.x, rows + (r - begin) * length});
}

// Adds rows [begin, end) to the pixels they were gathered from.
inline void scatter_rows(
    const RowSource& x,
    std::int64_t begin,
    std::int64_t end,
    const float* rows,
    float* gradient) {
  const std::int64_t length = x.length();
  for (std::int64_t r = begin; r < end; ++r)
    visit_row(x, r, ScatterRow{gradient, rows + (r - begin) * length});
}

} // namespace temper::kernels::TEMPER_TARGET
