// Rows of a gathered block. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/gather_job.h"
#include "temper/kernels/gemm/multiply.h"
#include "temper/kernels/norm/norm_rows.h"

namespace temper::kernels::TEMPER_TARGET {

typedef float FourFloats
    __attribute__((vector_size(16), aligned(4), may_alias));

[[gnu::always_inline]] inline void copy_floats(
    const float* __restrict from,
    std::int64_t count,
    float* __restrict to) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store(to + i, load(from + i));
  for (; i + 4 <= count; i += 4)
    *reinterpret_cast<FourFloats*>(to + i) =
        *reinterpret_cast<const FourFloats*>(from + i);
  for (; i < count; ++i)
    to[i] = from[i];
}

// Walks the pixels of a group in order.
struct GroupWalk {
  const GatherGroup& group;
  std::int64_t image;
  std::int64_t row; // of group.rows
  std::int64_t column;

  GroupWalk(const GatherGroup& of, std::int64_t pixel) : group(of) {
    column = pixel % of.columns.count;
    row = pixel / of.columns.count % of.rows.count;
    image = pixel / (of.columns.count * of.rows.count);
  }
  void next() {
    if (++column < group.columns.count) return;
    column = 0;
    if (++row < group.rows.count) return;
    row = 0;
    ++image;
  }
  // The pixel's number in the target.
  std::int64_t target(const GatherJob& job) const {
    const std::int64_t h = group.rows.first + row * group.rows.step;
    const std::int64_t w = group.columns.first + column * group.columns.step;
    return (image * job.target_height + h) * job.target_width + w;
  }
};

// Channels [begin, end) of source pixels beside each other, which are at
// `from`, through the normalisation before the convolution.
inline void read_pixels(
    const GatherJob& job,
    const float* from,
    std::int64_t pixels,
    std::int64_t begin,
    std::int64_t end,
    float* to) {
  const std::int64_t count = end - begin;
  if (job.before.scale == nullptr)
    return copy_floats(from + begin, pixels * count, to);
  const Affine some{
      job.before.scale + begin, job.before.shift + begin, job.before.act};
  with_activation(
      some.act,
      AffineRows{
          some, pixels, count, from + begin, job.source_channels, to, count});
}

// Source channels [begin, end) of one tap.
inline void gather_tap(
    const GatherJob& job,
    const GroupWalk& at,
    int tap_row,
    int tap_column,
    std::int64_t begin,
    std::int64_t end,
    float* to) {
  const std::int64_t h =
      at.group.rows.source[tap_row] + at.row * job.source_step_rows;
  const std::int64_t w =
      at.group.columns.source[tap_column] + at.column * job.source_step_columns;
  if (h < 0 || h >= job.source_height || w < 0 || w >= job.source_width)
    return fill_zero(to, end - begin);
  const std::int64_t pixel =
      (at.image * job.source_height + h) * job.source_width + w;
  read_pixels(job, job.read + pixel * job.source_channels, 1, begin, end, to);
}

// All channels of all taps. Taps beside each other that are pixels beside each
// other are read at once.
inline void gather_row(const GatherJob& job, const GroupWalk& at, float* to) {
  const std::int64_t channels = job.source_channels;
  const GatherAxis& columns = at.group.columns;
  const bool adjacent =
      columns.taps > 1 && columns.source[1] == columns.source[0] + 1;
  for (int i = 0; i < at.group.rows.taps; ++i) {
    const std::int64_t h =
        at.group.rows.source[i] + at.row * job.source_step_rows;
    const std::int64_t w0 =
        columns.source[0] + at.column * job.source_step_columns;
    const bool inside = h >= 0 && h < job.source_height && w0 >= 0 &&
        w0 + columns.taps <= job.source_width;
    if (adjacent && inside) {
      const std::int64_t pixel =
          (at.image * job.source_height + h) * job.source_width + w0;
      read_pixels(
          job, job.read + pixel * channels, columns.taps, 0, channels, to);
      to += columns.taps * channels;
      continue;
    }
    for (int j = 0; j < columns.taps; ++j, to += channels)
      gather_tap(job, at, i, j, 0, channels, to);
  }
}

// An odd number of cache lines, so that rows fall into different sets.
[[gnu::always_inline]] inline std::int64_t odd_row(std::int64_t count) {
  return ((count + 15) / 16 | 1) * 16;
}

} // namespace temper::kernels::TEMPER_TARGET
