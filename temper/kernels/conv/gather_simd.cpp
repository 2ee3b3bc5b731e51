// Convolutions of any kernel, stride and padding as multiplications of gathered
// rows, block by block in the second-level cache: forward pass and data
// gradient.
#include "temper/kernels/conv/gather_gradient.h"
#include "temper/kernels/conv/gather_rows.h"
#include "temper/kernels/conv/gather_table.h"
#include "temper/kernels/norm/gradient_end.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/transpose.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Rows of a panel, [source channels of one tap, panel], from weights whose
// target channels lie far from each other.
void pack_forward(
    const GatherJob& job,
    std::int64_t first,
    int vectors,
    std::int64_t begin,
    std::int64_t end,
    float* to) {
  const std::int64_t depth = job.taps * job.source_channels;
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  alignas(64) float block[kLanes * kLanes];
  for (std::int64_t k = begin; k < end; k += kLanes)
    for (int v = 0; v < vectors; ++v) {
      const std::int64_t out = first + v * kLanes;
      const float* from = job.weight + out * depth + k;
      const std::int64_t rows = job.target_channels - out;
      const std::int64_t columns = end - k;
      float* into = to + k * wide + v * kLanes;
      if (rows >= kLanes && columns >= kLanes) {
        transpose_block(from, depth, into, wide);
        continue;
      }
      const int some = static_cast<int>(columns < kLanes ? columns : kLanes);
      transpose_some(
          from,
          depth,
          static_cast<int>(rows < kLanes ? rows : kLanes),
          some,
          block,
          kLanes);
      for (int j = 0; j < some; ++j)
        store(into + j * wide, load(block + j * kLanes));
    }
}

// The same for the data gradient, whose target channels lie beside each other.
void pack_transposed(
    const GatherJob& job,
    std::int64_t first,
    int vectors,
    std::int64_t tap,
    float* to) {
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  const std::int64_t left = job.target_channels - first;
  const std::int64_t some = left < wide ? left : wide;
  for (std::int64_t k = 0; k < job.source_channels; ++k) {
    const float* from =
        job.weight + (k * job.taps + tap) * job.target_channels + first;
    float* into = to + (tap * job.source_channels + k) * wide;
    copy_floats(from, some, into);
    fill_zero(into + some, wide - some);
  }
}

void pack_weight_panel(const GatherJob& job, std::int64_t panel) {
  const std::int64_t padded = whole_vectors(job.target_channels);
  const std::int64_t first = panel * kTileColumns;
  const int vectors = panel_vectors(first, padded);
  const std::int64_t channels = job.source_channels;
  float* to = job.weights + first * job.taps * channels;
  for (std::int64_t tap = 0; tap < job.taps; ++tap) {
    if (!job.used[tap]) continue;
    if (job.transposed) {
      pack_transposed(job, first, vectors, tap, to);
      continue;
    }
    std::int64_t end = tap + 1; // of a run of taps in use
    while (end < job.taps && job.used[end])
      ++end;
    pack_forward(job, first, vectors, tap * channels, end * channels, to);
    tap = end - 1;
  }
}

// One panel: all taps of the group, runs of neighbours at once.
void multiply_taps(
    const GatherJob& job,
    const GatherGroup& group,
    std::int64_t rows,
    const float* gathered,
    std::int64_t row,
    const float* panel,
    int vectors,
    float* products,
    std::int64_t products_row) {
  const std::int64_t channels = job.source_channels;
  const std::int64_t wide = std::int64_t{vectors} * kLanes;
  const int taps = group.rows.taps * group.columns.taps;
  for (int done = 0; done < taps;) {
    const auto tap_at = [&](int index) {
      return group.rows.tap[index / group.columns.taps] * job.kernel_width +
          group.columns.tap[index % group.columns.taps];
    };
    const std::int64_t tap = tap_at(done);
    int run = 1;
    while (done + run < taps && tap_at(done + run) == tap + run)
      ++run;
    multiply_slices(
        done > 0,
        vectors,
        rows,
        run * channels,
        gathered + done * channels,
        row,
        panel + tap * channels * wide,
        products,
        products_row);
    done += run;
  }
}

// Sums over the rows that one thread writes: of a few in float32, of all in
// `parts`, which may be null.
struct GatherSums {
  double* parts;
  bool fresh = true; // moments have no pivot yet
  float* pivot = nullptr;
  float* first = nullptr;
  float* second = nullptr;

  GatherSums(const GatherJob& job, double* to) : parts(to) {
    const std::int64_t padded = whole_vectors(job.target_channels);
    pivot = scratch(3, static_cast<std::size_t>(3 * padded));
    first = pivot + padded;
    second = first + padded;
    clear(3 * padded, pivot);
  }
};

// Moments of one vector of channels.
void add_moments(
    const float* products,
    std::int64_t row,
    std::int64_t rows,
    const float* pivot,
    float* first,
    float* second) {
  const Vec from = load(pivot);
  Vec a = {};
  Vec b = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    const Vec away = load(products + i * row) - from;
    a += away;
    b += away * away;
  }
  store(first, load(first) + a);
  store(second, load(second) + b);
}

// Moments of target channels [first, first + channels). The first rows of all
// find the pivot.
void count_products(
    const GatherJob& job,
    std::int64_t first,
    std::int64_t channels,
    const float* products,
    std::int64_t row,
    std::int64_t rows,
    GatherSums& sums) {
  if (sums.fresh) {
    find_pivot(rows, channels, products, row, sums.pivot + first);
    for (std::int64_t c = first; c < first + channels; ++c)
      sums.parts[c] = static_cast<double>(sums.pivot[c]);
    sums.fresh = false;
  }
  for (std::int64_t r = 0; r < rows; r += kFloatRows) {
    const std::int64_t some = rows - r < kFloatRows ? rows - r : kFloatRows;
    for (std::int64_t c = 0; c < channels; c += kLanes)
      add_moments(
          products + r * row + c,
          row,
          some,
          sums.pivot + first + c,
          sums.first + first + c,
          sums.second + first + c);
    double* to = sums.parts + job.target_channels + first;
    drain(channels, sums.first + first, to);
    drain(channels, sums.second + first, to + job.target_channels);
  }
}

// Sums of rows without gaps, for gradients of biases.
void sum_rows(
    const float* rows,
    std::int64_t count,
    std::int64_t channels,
    double* sum) {
  constexpr std::int64_t kRowsAtOnce = 16;
  for (std::int64_t begin = 0; begin < count; begin += kRowsAtOnce) {
    const std::int64_t left = count - begin;
    const std::int64_t some = left < kRowsAtOnce ? left : kRowsAtOnce;
    const float* first = rows + begin * channels;
    std::int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes) {
      Vec sums = {};
      for (std::int64_t i = 0; i < some; ++i)
        sums += load(first + i * channels + c);
      for (int lane = 0; lane < kLanes; ++lane)
        sum[c + lane] += static_cast<double>(sums[lane]);
    }
    for (; c < channels; ++c)
      for (std::int64_t i = 0; i < some; ++i)
        sum[c] += static_cast<double>(first[i * channels + c]);
  }
}

// Adds the bias and writes target channels [first, first + channels).
void write_rows(
    const GatherJob& job,
    const RowRange& range,
    std::int64_t first,
    std::int64_t channels,
    float* products,
    std::int64_t row) {
  GroupWalk at(*range.group, range.begin);
  for (std::int64_t i = 0; i < range.end - range.begin; ++i, at.next()) {
    float* to = job.write + at.target(job) * job.target_channels + first;
    float* from = products + i * row;
    if (job.bias != nullptr)
      for (std::int64_t c = 0; c < channels; ++c)
        from[c] += job.bias[first + c];
    copy_floats(from, channels, to);
  }
}

// This form is for gradients that end in something (GradientEnd).
void end_rows(
    const GatherJob& job,
    const RowRange& range,
    std::int64_t first,
    std::int64_t channels,
    const float* products,
    std::int64_t row,
    const GatherSums& sums) {
  GroupWalk at(*range.group, range.begin);
  const std::int64_t rows = range.end - range.begin;
  for (std::int64_t i = 0; i < rows;) {
    EndedRows ended{
        job.end, job.write, first, channels, sums.first, sums.second};
    for (; i < rows && ended.count < kEndedRows; ++i, at.next())
      ended.add(products + i * row, at.target(job) * job.target_channels);
    write_ended(ended);
    if (sums.parts == nullptr) continue;
    drain(channels, sums.first + first, sums.parts + first);
    drain(
        channels,
        sums.second + first,
        sums.parts + job.target_channels + first);
  }
}

void convolve_rows(
    const GatherJob& job,
    const RowRange& range,
    std::int64_t first,
    std::int64_t end,
    float* gathered,
    float* products,
    std::int64_t products_row,
    GatherSums& sums) {
  const GatherGroup& group = *range.group;
  const std::int64_t rows = range.end - range.begin;
  const std::int64_t depth =
      job.source_channels * group.rows.taps * group.columns.taps;
  const std::int64_t row = odd_row(depth);
  GroupWalk at(group, range.begin);
  if (depth > 0)
    for (std::int64_t i = 0; i < rows; ++i, at.next())
      gather_row(job, at, gathered + i * row);
  else
    fill_zero(products, rows * products_row);
  if (depth > 0)
    for (std::int64_t c = first; c < end; c += kTileColumns)
      multiply_taps(
          job,
          group,
          rows,
          gathered,
          row,
          job.weights + c * job.taps * job.source_channels,
          panel_vectors(c, whole_vectors(job.target_channels)),
          products + (c - first),
          products_row);
  const std::int64_t last =
      end < job.target_channels ? end : job.target_channels;
  if (ends(job.end))
    return end_rows(
        job, range, first, last - first, products, products_row, sums);
  write_rows(job, range, first, last - first, products, products_row);
  if (sums.parts != nullptr)
    count_products(
        job, first, last - first, products, products_row, rows, sums);
}

void convolve_blocks(
    const GatherJob& job,
    std::int64_t begin,
    std::int64_t end,
    std::int64_t panel_begin,
    std::int64_t panel_end,
    double* parts) {
  const std::int64_t padded = whole_vectors(job.target_channels);
  const std::int64_t first = panel_begin * kTileColumns;
  const std::int64_t last =
      panel_end * kTileColumns < padded ? panel_end * kTileColumns : padded;
  float* gathered = scratch(1, static_cast<std::size_t>(job.block_floats));
  const std::int64_t products_row = odd_row(last - first);
  float* products =
      scratch(2, static_cast<std::size_t>(job.block_rows * products_row));
  GatherSums sums(job, parts);
  for (std::int64_t block = begin; block < end; ++block)
    convolve_rows(
        job,
        rows_of_block(job, block, kTileRows),
        first,
        last,
        gathered,
        products,
        products_row,
        sums);
}

} // namespace

extern const GatherTable gather_table;
const GatherTable gather_table = {
    kLanes,
    kTileColumns,
    kTileRows,
    pack_weight_panel,
    convolve_blocks,
    sum_gathered_gradient,
    write_gathered_gradient,
    sum_rows};

} // namespace temper::kernels::TEMPER_TARGET
