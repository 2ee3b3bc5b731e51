#include "temper/kernels/conv/gather.h"

#include <algorithm>
#include <vector>

#include "temper/kernels/conv/gather_plan.h"
#include "temper/kernels/conv/gather_table.h"
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
// Less work than this is not worth a second thread.
constexpr std::int64_t kFewProducts = 1 << 20;

std::int64_t ceil_divided(std::int64_t count, std::int64_t by) {
  return (count + by - 1) / by;
}

std::int64_t all_products(const GatherPlan& plan, std::int64_t batch) {
  return plan.products * batch * plan.job.source_channels *
      plan.job.target_channels;
}

void clear(const ChannelSums& sums, std::int64_t channels) {
  if (sums.sum == nullptr) return;
  std::fill_n(sums.sum, channels, 0.0);
  std::fill_n(sums.squares, channels, 0.0);
}

// Blocks of rows in chunks; where there are few of them, the target's channels
// are cut, too.
void convolve_chunks(
    const GatherTable& table,
    const GatherJob& job,
    bool little,
    const ChannelSums& sums) {
  const std::int64_t channels = job.target_channels;
  const std::int64_t panels = ceil_divided(
      ceil_divided(channels, table.lanes) * table.lanes, table.columns);
  const std::int64_t row_chunks =
      little ? 1 : std::min(job.blocks, kMostGatherChunks);
  const std::int64_t parts = little || row_chunks >= kManyThreads
      ? 1
      : std::min(panels, ceil_divided(kManyThreads, row_chunks));
  std::vector<double> partial(
      sums.sum == nullptr ? 0
                          : static_cast<std::size_t>(2 * row_chunks * channels),
      0.0);
  for_each_chunk(row_chunks * parts, [&](std::int64_t chunk) {
    const std::int64_t row_chunk = chunk / parts;
    const ChunkRange blocks = chunk_range(job.blocks, 1, row_chunks, row_chunk);
    const ChunkRange columns = chunk_range(panels, 1, parts, chunk % parts);
    ChannelSums own;
    if (sums.sum != nullptr) {
      own.sum = partial.data() + 2 * row_chunk * channels;
      own.squares = own.sum + channels;
    }
    table.convolve(
        job, blocks.begin, blocks.end, columns.begin, columns.end, own);
  });
  if (sums.sum == nullptr) return;
  for (std::int64_t chunk = 0; chunk < row_chunks; ++chunk)
    for (std::int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<std::size_t>(2 * chunk * channels + c);
      sums.sum[c] += partial[at];
      sums.squares[c] += partial[at + static_cast<std::size_t>(channels)];
    }
}

void convolve_gathered(
    const GatherTable& table,
    GatherPlan& plan,
    std::int64_t batch,
    const ChannelSums& sums) {
  GatherJob& job = plan.job;
  clear(sums, job.target_channels);
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
  convolve_chunks(table, job, little, sums);
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
    const ChannelSums& sums) {
  GatherPlan plan = plan_forward(shape);
  plan.job.read = x;
  plan.job.weight = weight;
  plan.job.bias = bias;
  plan.job.write = y;
  convolve_gathered(gather_table_in_use(), plan, shape.batch, sums);
}

void gather_data_gradient(
    const ConvShape& shape,
    const float* y_gradient,
    const float* weight,
    float* x_gradient) {
  GatherPlan plan = plan_data_gradient(shape);
  plan.job.read = y_gradient;
  plan.job.weight = weight;
  plan.job.write = x_gradient;
  convolve_gathered(gather_table_in_use(), plan, shape.batch, {});
}

void gather_weight_gradient(
    const ConvShape& shape,
    const float* x,
    const float* y_gradient,
    float* weight_gradient) {
  const GatherTable& table = gather_table_in_use();
  GatherPlan plan = plan_forward(shape);
  GatherJob& job = plan.job;
  job.read = x;
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
