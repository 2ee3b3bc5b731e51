#include "temper/kernels/conv/gather.h"

#include <algorithm>
#include <vector>

#include "temper/kernels/conv/gather_plan.h"
#include "temper/kernels/conv/gather_table.h"
#include "temper/kernels/norm/batch_norm_table.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace baseline {
extern const GatherTable gather_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const GatherTable gather_table;
}
namespace avx512 {
extern const GatherTable gather_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const GatherTable gather_table;
}
#endif

namespace {

const GatherTable& gather_table_in_use() {
#if defined(__x86_64__)
  return PerTarget<GatherTable>{
      &baseline::gather_table,
      &avx2::gather_table,
      &avx512::gather_table,
      nullptr}
      .in_use();
#elif defined(__aarch64__)
  return PerTarget<GatherTable>{
      &baseline::gather_table, nullptr, nullptr, &neon::gather_table}
      .in_use();
#else
  return baseline::gather_table;
#endif
}

constexpr std::int64_t kMostGatherChunks = 64;
constexpr std::int64_t kManyThreads = 16;
constexpr std::int64_t kBlockFloats = 64 << 10; // of a gathered block: 256 KB
constexpr std::int64_t kMostGatherPartialFloats = std::int64_t{4}
    << 20; // 16 MB
constexpr std::int64_t kFewFloats = 512 << 10; // of a gradient: 2 MB
// Less work than this is not worth a second thread.
constexpr std::int64_t kFewProducts = 1 << 20;

std::int64_t ceil_divided(std::int64_t count, std::int64_t by) {
  return (count + by - 1) / by;
}

std::int64_t all_products(const GatherPlan& plan, std::int64_t batch) {
  return plan.products * batch * plan.job.source_channels *
      plan.job.target_channels;
}

// Rows of each of `chunks` chunks of blocks.
std::vector<std::int64_t> rows_of_chunks(
    const GatherJob& job,
    std::int64_t chunks,
    std::int64_t tile_rows) {
  std::vector<std::int64_t> counts;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const ChunkRange blocks = chunk_range(job.blocks, 1, chunks, chunk);
    std::int64_t rows = 0;
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      const RowRange range = rows_of_block(job, block, tile_rows);
      rows += range.end - range.begin;
    }
    counts.push_back(rows);
  }
  return counts;
}

// Blocks of rows in chunks; where there are few of them, the target's channels
// are cut, too.
void convolve_chunks(
    const GatherTable& table,
    const GatherJob& job,
    bool little,
    const Moments* moments) {
  const std::int64_t channels = job.target_channels;
  const std::int64_t panels = ceil_divided(
      ceil_divided(channels, table.lanes) * table.lanes, table.columns);
  const std::int64_t row_chunks =
      little ? 1 : std::min(job.blocks, kMostGatherChunks);
  const std::int64_t parts = little || row_chunks >= kManyThreads
      ? 1
      : std::min(panels, ceil_divided(kManyThreads, row_chunks));
  const bool sums = job.end.x != nullptr;
  const std::int64_t run = channels *
      (moments != nullptr ? kMomentRuns : (sums ? kGradientRuns : 0));
  std::vector<double> partial(static_cast<std::size_t>(row_chunks * run), 0.0);
  for_each_chunk(row_chunks * parts, [&](std::int64_t chunk) {
    const std::int64_t row_chunk = chunk / parts;
    const ChunkRange blocks = chunk_range(job.blocks, 1, row_chunks, row_chunk);
    const ChunkRange columns = chunk_range(panels, 1, parts, chunk % parts);
    table.convolve(
        job,
        blocks.begin,
        blocks.end,
        columns.begin,
        columns.end,
        run == 0 ? nullptr : partial.data() + row_chunk * run);
  });
  if (moments != nullptr)
    merge_moments(
        row_chunks,
        channels,
        rows_of_chunks(job, row_chunks, table.rows).data(),
        partial.data(),
        *moments);
  else if (sums)
    merge_gradient_sums(row_chunks, channels, partial.data(), *job.end.sums);
}

void convolve_gathered(
    const GatherTable& table,
    GatherPlan& plan,
    std::int64_t batch,
    const Moments* moments) {
  GatherJob& job = plan.job;
  const std::int64_t depth = job.taps * job.source_channels;
  std::int64_t longest = 1;
  for (const GatherGroup& group : plan.groups)
    longest = std::max<std::int64_t>(
        longest, std::int64_t{group.rows.taps} * group.columns.taps);
  const std::int64_t rows = std::clamp<std::int64_t>(
      kBlockFloats / (longest * job.source_channels), 4 * table.rows, 192);
  cut_blocks(plan, rows, table.rows);
  const std::int64_t padded =
      ceil_divided(job.target_channels, table.lanes) * table.lanes;
  job.weights = scratch(0, static_cast<std::size_t>(depth * padded));
  const bool little = all_products(plan, batch) < kFewProducts;
  const std::int64_t panels = ceil_divided(padded, table.columns);
  if (little || depth * padded < 16384)
    for (std::int64_t panel = 0; panel < panels; ++panel)
      table.pack_weights(job, panel);
  else
    for_each_chunk(
        panels, [&](std::int64_t panel) { table.pack_weights(job, panel); });
  convolve_chunks(table, job, little, moments);
}

// Columns of the weight gradient that are summed apart. All at once while a
// gathered row is short; else tap by tap, and taps in pieces.
std::vector<GatherColumns> columns_of_gradient(
    const GatherPlan& plan,
    const GatherTable& table) {
  constexpr std::int64_t kLongRow = 1024;
  constexpr std::int64_t kPiece = 256;
  const GatherJob& job = plan.job;
  const std::int64_t channels = job.source_channels;
  std::vector<GatherColumns> all;
  std::int64_t offset = 0;
  const auto add = [&](GatherColumns columns) {
    const std::int64_t width =
        ceil_divided(columns.end - columns.begin, table.lanes) * table.lanes;
    columns.floats = width * job.target_channels;
    columns.offset = offset;
    offset += columns.floats;
    all.push_back(columns);
  };
  if (plan.whole && job.taps * channels <= kLongRow) {
    add({-1, 0, job.taps * channels, 0, 0});
    return all;
  }
  for (std::int64_t tap = 0; tap < job.taps; ++tap)
    if (job.used[tap])
      for (std::int64_t begin = 0; begin < channels; begin += kPiece)
        add({tap, begin, std::min(channels, begin + kPiece), 0, 0});
  return all;
}

} // namespace

bool gather_takes(const ConvShape& shape) {
  return shape.kernel_height <= kMostTaps && shape.kernel_width <= kMostTaps &&
      shape.out_height() >= 1 && shape.out_width() >= 1;
}

std::int64_t gather_products(const ConvShape& shape) {
  return plan_forward(shape).products;
}

void gather_forward(
    const ConvShape& shape,
    const float* x,
    const float* weight,
    const float* bias,
    float* y,
    const Moments* moments,
    const Affine& before) {
  GatherPlan plan = plan_forward(shape);
  plan.job.read = x;
  plan.job.before = before;
  plan.job.weight = weight;
  plan.job.bias = bias;
  plan.job.write = y;
  convolve_gathered(gather_table_in_use(), plan, shape.batch, moments);
}

void gather_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient,
    const GradientEnd& end) {
  GatherPlan plan = plan_data_gradient(shape);
  plan.job.read = y_gradient;
  plan.job.weight = weight;
  plan.job.write = x_gradient;
  // An end that fits into a cache costs less in a pass of its own; one added
  // from the same memory has to be added as it is written.
  const std::int64_t rows = shape.batch * shape.in_height * shape.in_width;
  const bool apart =
      rows * shape.in_channels <= kFewFloats && end.add != x_gradient;
  if (!apart) plan.job.end = end;
  convolve_gathered(gather_table_in_use(), plan, shape.batch, nullptr);
  if (apart) end_gradient(rows, shape.in_channels, end, x_gradient);
}

void gather_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient,
    const Affine& before) {
  const GatherTable& table = gather_table_in_use();
  GatherPlan plan = plan_forward(shape);
  GatherJob& job = plan.job;
  job.read = x;
  job.before = before;
  const std::vector<GatherColumns> columns = columns_of_gradient(plan, table);
  const auto blocks_wide = static_cast<std::int64_t>(columns.size());
  const std::int64_t part =
      columns.empty() ? 0 : columns.back().offset + columns.back().floats;
  const std::int64_t width =
      columns.empty() ? 1 : columns[0].end - columns[0].begin;
  cut_blocks(
      plan,
      std::clamp<std::int64_t>(
          kBlockFloats / (width + job.target_channels), 32, 256),
      table.rows);
  const std::int64_t parts = all_products(plan, shape.batch) < kFewProducts
      ? 1
      : std::clamp<std::int64_t>(
            std::min(
                kMostGatherPartialFloats / std::max<std::int64_t>(part, 1),
                job.blocks / 2),
            1,
            kManyThreads);
  float* sums = scratch(0, static_cast<std::size_t>(parts * part));
  for_each_chunk(parts * blocks_wide, [&](std::int64_t chunk) {
    const std::int64_t index = chunk / blocks_wide;
    const GatherColumns& some =
        columns[static_cast<std::size_t>(chunk % blocks_wide)];
    const ChunkRange range = chunk_range(job.blocks, 1, parts, index);
    table.sum_gradient(
        job,
        y_gradient,
        some,
        range.begin,
        range.end,
        sums + index * part + some.offset);
  });
  constexpr std::int64_t kChannelsAtOnce = 32;
  const std::int64_t row = job.taps * job.source_channels;
  for_each_chunk(
      ceil_divided(job.target_channels, kChannelsAtOnce),
      [&](std::int64_t chunk) {
        const std::int64_t begin = chunk * kChannelsAtOnce;
        const std::int64_t end =
            std::min(job.target_channels, begin + kChannelsAtOnce);
        for (std::int64_t out = begin; out < end; ++out)
          for (std::int64_t tap = 0; tap < job.taps; ++tap)
            if (!job.used[tap])
              std::fill_n(
                  weight_gradient + out * row + tap * job.source_channels,
                  job.source_channels,
                  0.0F);
        for (const GatherColumns& some : columns)
          table.write_gradient(
              job,
              some,
              sums + some.offset,
              parts,
              part,
              begin,
              end,
              weight_gradient);
      });
}

void sum_channels(
    std::int64_t rows,
    std::int64_t channels,
    const float* from,
    float* to) {
  constexpr std::int64_t kFewestRows = 256;
  const GatherTable& table = gather_table_in_use();
  const std::int64_t chunks = rows * channels < kFewProducts
      ? 1
      : std::min(kMostGatherChunks, ceil_divided(rows, kFewestRows));
  std::vector<double> sums(static_cast<std::size_t>(chunks * channels), 0.0);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange range = chunk_range(rows, 1, chunks, chunk);
    table.sum_rows(
        from + range.begin * channels,
        range.end - range.begin,
        channels,
        sums.data() + chunk * channels);
  });
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      sum += sums[static_cast<std::size_t>(chunk * channels + c)];
    to[c] = static_cast<float>(sum);
  }
}

} // namespace temper::kernels
