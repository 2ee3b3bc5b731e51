#include "temper/kernels/conv/gather_plan.h"

#include <algorithm>

namespace temper::kernels {
namespace {

// One axis of one side: how coordinates and taps belong together.
struct Axis {
  std::int64_t source = 0; // size
  std::int64_t target = 0;
  std::int64_t kernel = 0;
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  bool transposed = false;
};

// The source's coordinate that tap k joins with a target's; a stride may leave
// none between.
bool joined(
    const Axis& axis,
    std::int64_t target,
    std::int64_t k,
    std::int64_t& source) {
  if (!axis.transposed) {
    source = target * axis.stride + k - axis.pad;
    return true;
  }
  const std::int64_t shifted = target + axis.pad - k;
  const std::int64_t rest = (shifted % axis.stride + axis.stride) % axis.stride;
  source = (shifted - rest) / axis.stride;
  return rest == 0;
}

GatherAxis taps_at(const Axis& axis, std::int64_t target, bool inside_only) {
  GatherAxis found;
  found.first = target;
  found.count = 1;
  for (std::int64_t k = 0; k < axis.kernel; ++k) {
    std::int64_t source = 0;
    if (!joined(axis, target, k, source)) continue;
    if (inside_only && (source < 0 || source >= axis.source)) continue;
    found.tap[found.taps] = k;
    found.source[found.taps++] = source;
  }
  return found;
}

// Runs of coordinates with the same taps: for each phase of a data gradient,
// and, if only taps inside count, for each part of the border.
std::vector<GatherAxis> runs_of(const Axis& axis, bool inside_only) {
  std::vector<GatherAxis> runs;
  const std::int64_t step = axis.transposed ? axis.stride : 1;
  for (std::int64_t phase = 0; phase < std::min(step, axis.target); ++phase)
    for (std::int64_t at = phase; at < axis.target; at += step) {
      GatherAxis here = taps_at(axis, at, inside_only);
      here.step = step;
      const bool same = at != phase && runs.back().taps == here.taps &&
          std::equal(here.tap, here.tap + here.taps, runs.back().tap);
      if (same)
        ++runs.back().count;
      else
        runs.push_back(here);
    }
  return runs;
}

std::int64_t products_of(const std::vector<GatherAxis>& runs) {
  std::int64_t products = 0;
  for (const GatherAxis& run : runs)
    products += run.count * run.taps;
  return products;
}

GatherPlan
plan_axes(const Axis& rows, const Axis& columns, std::int64_t batch) {
  GatherPlan plan;
  std::vector<GatherAxis> row_runs = runs_of(rows, false);
  std::vector<GatherAxis> column_runs = runs_of(columns, false);
  const std::vector<GatherAxis> inside_rows = runs_of(rows, true);
  const std::vector<GatherAxis> inside_columns = runs_of(columns, true);
  plan.products = products_of(row_runs) * products_of(column_runs);
  const std::int64_t inside =
      products_of(inside_rows) * products_of(inside_columns);
  // Groups cost a little: border and inside are worth it from a seventh on.
  if (inside * 8 < plan.products * 7) {
    row_runs = inside_rows;
    column_runs = inside_columns;
    plan.products = inside;
    plan.whole = false;
  }
  const std::int64_t taps = rows.kernel * columns.kernel;
  plan.used = std::make_unique<bool[]>(static_cast<std::size_t>(taps));
  for (const GatherAxis& row : row_runs)
    for (const GatherAxis& column : column_runs) {
      GatherGroup group;
      group.rows = row;
      group.columns = column;
      group.pixels = batch * row.count * column.count;
      plan.groups.push_back(group);
      for (int i = 0; i < row.taps; ++i)
        for (int j = 0; j < column.taps; ++j)
          plan.used[static_cast<std::size_t>(
              row.tap[i] * columns.kernel + column.tap[j])] = true;
    }
  plan.job.source_height = rows.source;
  plan.job.source_width = columns.source;
  plan.job.target_height = rows.target;
  plan.job.target_width = columns.target;
  plan.job.source_step_rows = rows.transposed ? 1 : rows.stride;
  plan.job.source_step_columns = columns.transposed ? 1 : columns.stride;
  plan.job.kernel_width = columns.kernel;
  plan.job.taps = taps;
  plan.job.used = plan.used.get();
  plan.job.transposed = rows.transposed;
  return plan;
}

Axis height_axis(const ConvShape& shape) {
  return {
      shape.in_height,
      shape.out_height(),
      shape.kernel_height,
      shape.stride_height,
      shape.pad_height,
      false};
}

Axis width_axis(const ConvShape& shape) {
  return {
      shape.in_width,
      shape.out_width(),
      shape.kernel_width,
      shape.stride_width,
      shape.pad_width,
      false};
}

Axis transposed(Axis axis) {
  std::swap(axis.source, axis.target);
  axis.transposed = true;
  return axis;
}

} // namespace

GatherPlan plan_forward(const ConvShape& shape) {
  GatherPlan plan =
      plan_axes(height_axis(shape), width_axis(shape), shape.batch);
  plan.job.source_channels = shape.in_channels;
  plan.job.target_channels = shape.out_channels;
  return plan;
}

GatherPlan plan_data_gradient(const ConvShape& shape) {
  GatherPlan plan = plan_axes(
      transposed(height_axis(shape)),
      transposed(width_axis(shape)),
      shape.batch);
  plan.job.source_channels = shape.out_channels;
  plan.job.target_channels = shape.in_channels;
  return plan;
}

void cut_blocks(GatherPlan& plan, std::int64_t rows, std::int64_t tile_rows) {
  GatherJob& job = plan.job;
  job.blocks = 0;
  job.block_rows = 0;
  std::int64_t longest = 0;
  for (GatherGroup& group : plan.groups) {
    const std::int64_t tiles = (group.pixels + tile_rows - 1) / tile_rows;
    const std::int64_t most = std::max<std::int64_t>(1, rows / tile_rows);
    group.first_block = job.blocks;
    group.blocks = (tiles + most - 1) / most;
    job.blocks += group.blocks;
    const std::int64_t largest =
        group.blocks == 0 ? 0 : (tiles + group.blocks - 1) / group.blocks;
    job.block_rows = std::max(job.block_rows, largest * tile_rows);
    longest = std::max<std::int64_t>(
        longest, std::int64_t{group.rows.taps} * group.columns.taps);
  }
  const std::int64_t floats = longest * job.source_channels;
  job.block_floats = job.block_rows * ((floats + 15) / 16 | 1) * 16;
  job.groups = plan.groups.data();
  job.group_count = static_cast<std::int64_t>(plan.groups.size());
}

} // namespace temper::kernels
