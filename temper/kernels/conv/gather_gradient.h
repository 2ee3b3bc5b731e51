// The weight gradient of a gathered convolution: the transposed product of y's
// gradient and gathered rows. For gather_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/gather_rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {

// The group's places of a tap of the weight; -1 where the group has it not.
struct TapPlace {
  int row = -1;
  int column = -1;
};

inline TapPlace
place_of_tap(const GatherJob& job, const GatherGroup& group, std::int64_t tap) {
  TapPlace place;
  for (int i = 0; i < group.rows.taps; ++i)
    if (group.rows.tap[i] == tap / job.kernel_width) place.row = i;
  for (int i = 0; i < group.columns.taps; ++i)
    if (group.columns.tap[i] == tap % job.kernel_width) place.column = i;
  return place;
}

inline void sum_gathered_gradient(
    const GatherJob& job,
    const float* gradient,
    const GatherColumns& columns,
    std::int64_t begin,
    std::int64_t end,
    float* sums) {
  const std::int64_t width = columns.end - columns.begin;
  const std::int64_t padded = whole_vectors(width);
  const std::int64_t row = odd_row(padded);
  const std::int64_t channels = job.target_channels;
  const std::int64_t gradient_row = odd_row(channels);
  float* gathered = scratch(1, static_cast<std::size_t>(job.block_rows * row));
  float* outputs =
      scratch(2, static_cast<std::size_t>(job.block_rows * gradient_row));
  fill_zero(sums, columns.floats);
  for (std::int64_t block = begin; block < end; ++block) {
    const RowRange range = rows_of_block(job, block, kTileRows);
    TapPlace place;
    if (columns.tap >= 0) {
      place = place_of_tap(job, *range.group, columns.tap);
      if (place.row < 0 || place.column < 0) continue;
    }
    const std::int64_t rows = range.end - range.begin;
    GroupWalk at(*range.group, range.begin);
    for (std::int64_t i = 0; i < rows; ++i, at.next()) {
      float* to = gathered + i * row;
      if (columns.tap < 0)
        gather_row(job, at, to);
      else
        gather_tap(
            job, at, place.row, place.column, columns.begin, columns.end, to);
      fill_zero(to + width, padded - width);
      copy_floats(
          gradient + at.target(job) * channels,
          channels,
          outputs + i * gradient_row);
    }
    for (std::int64_t c = 0; c < padded; c += kTileColumns) {
      const int vectors = panel_vectors(c, padded);
      add_transposed(
          vectors,
          channels,
          rows,
          outputs,
          gradient_row,
          gathered + c,
          row,
          sums + c * channels,
          std::int64_t{vectors} * kLanes);
    }
  }
}

inline void write_gathered_gradient(
    const GatherJob& job,
    const GatherColumns& columns,
    const float* sums,
    std::int64_t parts,
    std::int64_t part_stride,
    std::int64_t begin,
    std::int64_t end,
    float* weight_gradient) {
  const std::int64_t width = columns.end - columns.begin;
  const std::int64_t padded = whole_vectors(width);
  const std::int64_t tap = columns.tap < 0 ? 0 : columns.tap;
  for (std::int64_t out = begin; out < end; ++out) {
    float* to = weight_gradient + (out * job.taps + tap) * job.source_channels +
        columns.begin;
    for (std::int64_t c = 0; c < width; c += kLanes) {
      const std::int64_t panel = c / kTileColumns * kTileColumns;
      const std::int64_t wide =
          std::int64_t{panel_vectors(panel, padded)} * kLanes;
      const float* from =
          sums + panel * job.target_channels + out * wide + (c - panel);
      Vec sum = load(from);
      for (std::int64_t part = 1; part < parts; ++part)
        sum += load(from + part * part_stride);
      if (width - c >= kLanes)
        store(to + c, sum);
      else
        store_some(to + c, sum, static_cast<int>(width - c));
    }
  }
}

} // namespace temper::kernels::TEMPER_TARGET
