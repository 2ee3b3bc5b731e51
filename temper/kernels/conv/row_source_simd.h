// Gathering and scattering rows of row_source.h. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/row_source.h"
#include "temper/kernels/norm/norm_rows.h"

namespace temper::kernels::TEMPER_TARGET {

typedef float FewFloats __attribute__((vector_size(16), aligned(4), may_alias));

inline void copy_floats(std::int64_t count, const float* from, float* to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(to + i, load(from + i));
  for (; i + 4 <= count; i += 4)
    *reinterpret_cast<FewFloats*>(to + i) =
        *reinterpret_cast<const FewFloats*>(from + i);
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

// A row's pixel in the result, and the one after it.
struct RowPlace {
  std::int64_t out_width;
  std::int64_t out_height;
  std::int64_t column;
  std::int64_t line;
  std::int64_t image;

  RowPlace(const RowSource& x, std::int64_t row)
      : out_width(x.out_width()),
        out_height(x.out_height()),
        column(row % out_width),
        line(row / out_width % out_height),
        image(row / out_width / out_height) {}

  void next() {
    if (++column < out_width) return;
    column = 0;
    if (++line < out_height) return;
    line = 0;
    ++image;
  }
};

// Calls visit.inside(offset in x, offset in row, floats) for every run of a
// row's numbers that lies in the image.
template <class Visit>
[[gnu::always_inline]] inline void
visit_row(const RowSource& x, const RowPlace& row, const Visit& visit) {
  const std::int64_t column = row.column * x.stride - x.padding;
  const std::int64_t line = row.line * x.stride - x.padding;
  const std::int64_t from = column < 0 ? -column : 0;
  const std::int64_t room = x.width - column;
  const std::int64_t to = room < x.kernel ? room : x.kernel;
  const std::int64_t run = x.kernel * x.channels;
  for (std::int64_t k = 0; k < x.kernel; ++k) {
    const std::int64_t y = line + k;
    if (y < 0 || y >= x.height || to <= from) continue;
    visit.inside(
        ((row.image * x.height + y) * x.width + column + from) * x.channels,
        k * run + from * x.channels,
        (to - from) * x.channels);
  }
}

// A run of a row that lies in the image as a whole: the shortest ones as two
// vectors, which may overlap.
[[gnu::always_inline]] inline void
copy_run(std::int64_t count, const float* from, float* to) {
  if (count >= kLanes && count <= 2 * kLanes) {
    const Vec last = load(from + count - kLanes);
    store(to, load(from));
    store(to + count - kLanes, last);
    return;
  }
#if TEMPER_LANES > 4
  constexpr std::int64_t kHalf = kLanes / 2;
  if (count >= kHalf && count < kLanes) {
    const Vec last = load_half(from + count - kHalf);
    store_half(to, load_half(from));
    store_half(to + count - kHalf, last);
    return;
  }
#endif
  copy_floats(count, from, to);
}

// `count` rows that are pixels of one line of the result.
inline void gather_line(
    const RowSource& source,
    const RowPlace& place,
    std::int64_t count,
    float* rows) {
  const RowSource x = source; // a copy, which no store can change
  const std::int64_t run = x.kernel * x.channels;
  const std::int64_t length = x.length();
  const std::int64_t first = place.column * x.stride - x.padding;
  for (std::int64_t k = 0; k < x.kernel; ++k) {
    const std::int64_t y = place.line * x.stride - x.padding + k;
    float* to = rows + k * run;
    if (y < 0 || y >= x.height) {
      for (std::int64_t i = 0; i < count; ++i)
        clear(run, to + i * length);
      continue;
    }
    const float* line =
        x.x + (place.image * x.height + y) * x.width * x.channels;
    for (std::int64_t i = 0; i < count; ++i, to += length) {
      const std::int64_t column = first + i * x.stride;
      if (column >= 0 && column + x.kernel <= x.width) {
        copy_run(run, line + column * x.channels, to);
        continue;
      }
      const std::int64_t from = column < 0 ? -column : 0;
      const std::int64_t room = x.width - column;
      const std::int64_t end = room < x.kernel ? room : x.kernel;
      clear(run, to);
      if (from < end)
        copy_floats(
            (end - from) * x.channels,
            line + (column + from) * x.channels,
            to + from * x.channels);
    }
  }
}

struct ScatterRow {
  float* x;
  const float* row;
  void inside(std::int64_t at, std::int64_t from, std::int64_t count) const {
    add_floats(count, row + from, x + at);
  }
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
  RowPlace place(x, begin);
  for (std::int64_t r = begin; r < end;) {
    const std::int64_t left = place.out_width - place.column;
    const std::int64_t count = left < end - r ? left : end - r;
    gather_line(x, place, count, rows + (r - begin) * length);
    r += count;
    place.column += count - 1;
    place.next();
  }
}

// Adds rows [begin, end) to the pixels they were gathered from.
inline void scatter_rows(
    const RowSource& x,
    std::int64_t begin,
    std::int64_t end,
    const float* rows,
    float* gradient) {
  const std::int64_t length = x.length();
  RowPlace place(x, begin);
  for (std::int64_t r = begin; r < end; ++r, place.next())
    visit_row(x, place, ScatterRow{gradient, rows + (r - begin) * length});
}

} // namespace temper::kernels::TEMPER_TARGET
