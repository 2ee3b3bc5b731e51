#include "temper/kernels/conv/pointwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "temper/kernels/conv/pointwise_table.h"
#include "temper/kernels/norm/batch_norm_table.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

namespace baseline {
extern const PointwiseTable pointwise_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PointwiseTable pointwise_table;
}
namespace avx512 {
extern const PointwiseTable pointwise_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const PointwiseTable pointwise_table;
}
#endif

namespace {

const PointwiseTable& pointwise_table_in_use() {
  static const PerTarget<PointwiseTable> tables {
    &baseline::pointwise_table,
#if defined(__x86_64__)
        &avx2::pointwise_table, &avx512::pointwise_table, nullptr
#elif defined(__aarch64__)
        nullptr, nullptr, &neon::pointwise_table
#endif
  };
  return tables.in_use();
}

// Scratch of the calling thread; the vector code uses slots below 9.
constexpr int kPackedPanelsSlot = 9;
constexpr int kGradientSlot = 10;
constexpr int kRowsSlot = 11;
constexpr int kPartialSlot = 12;

constexpr std::int64_t kMostPointwiseChunks = 16;
constexpr std::int64_t kGrain = 12; // rows: whole tiles on every unit
// Multiply-adds below which a chunk does not pay for waking a thread.
constexpr std::int64_t kChunkWork = 1 << 19;

std::size_t floats(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// How results of rows x columns are cut: into rows first, and into panels where
// rows are few, because every chunk of rows reads all weights.
struct PointwiseCut {
  std::int64_t row_chunks = 1;
  std::int64_t panel_chunks = 1;
  std::int64_t panels = 1;
  std::int64_t rows = 0;

  std::int64_t chunks() const {
    return row_chunks * panel_chunks;
  }
  std::int64_t row_chunk(std::int64_t chunk) const {
    return chunk / panel_chunks;
  }
  ChunkRange row_range(std::int64_t row_chunk) const {
    return chunk_range(rows, kGrain, row_chunks, row_chunk);
  }
  Piece piece(std::int64_t chunk) const {
    const ChunkRange rows_of = row_range(row_chunk(chunk));
    const ChunkRange panels_of =
        chunk_range(panels, 1, panel_chunks, chunk % panel_chunks);
    return {rows_of.begin, rows_of.end, panels_of.begin, panels_of.end};
  }
};

PointwiseCut cut_pointwise(
    std::int64_t rows,
    std::int64_t depth,
    std::int64_t columns,
    std::int64_t panel) {
  PointwiseCut found;
  found.rows = rows;
  found.panels = divide_up(columns, panel);
  const std::int64_t worth = std::clamp<std::int64_t>(
      rows * depth * columns / kChunkWork, 1, kMostPointwiseChunks);
  found.row_chunks = std::clamp<std::int64_t>(rows / 96, 1, worth);
  found.panel_chunks =
      std::min(divide_up(worth, found.row_chunks), found.panels);
  return found;
}

using Pack = void (*)(
    std::int64_t,
    std::int64_t,
    const float*,
    std::int64_t,
    std::int64_t,
    float*);

const float* packed_panels(
    Pack pack,
    const float* weight,
    std::int64_t inputs,
    std::int64_t outputs,
    std::int64_t panels,
    std::int64_t panel,
    std::int64_t depth) {
  float* packed = scratch(kPackedPanelsSlot, floats(panels * panel * depth));
  const std::int64_t chunks =
      inputs * outputs > 65536 ? std::min<std::int64_t>(panels, 8) : 1;
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange range = chunk_range(panels, 1, chunks, chunk);
    pack(inputs, outputs, weight, range.begin, range.end, packed);
  });
  return packed;
}

std::vector<double>
parts_for(bool wanted, std::int64_t chunks, std::int64_t run) {
  return std::vector<double>(wanted ? floats(chunks * run) : 0);
}

// Both operands of a backward pass in the cache at once, [rows, inputs +
// outputs] floats: then the weight gradient is cut by outputs and needs no
// partial sums.
constexpr std::int64_t kSharedFloats = 1 << 20;

// Where rows are many beside the weights, to write and to read them once more
// costs more than partial sums do.
bool few_rows(const PointwiseBackward& job) {
  const std::int64_t inputs = job.x.length();
  const std::int64_t operands = job.x.rows() * (inputs + job.outputs);
  return operands <= kSharedFloats &&
      kMostPointwiseChunks * inputs * job.outputs > operands / 2;
}

void backward_of_few_rows(
    const PointwiseBackward& job,
    const PointwiseTable& simd,
    const float* packed) {
  const std::int64_t rows = job.x.rows();
  const std::int64_t inputs = job.x.length();
  SharedOperands shared;
  shared.weight = packed;
  shared.gradient = job.gradient;
  float* gradient = nullptr;
  if (job.after.x != nullptr)
    shared.gradient = gradient =
        scratch(kGradientSlot, floats(rows * job.outputs));
  const std::int64_t padded = divide_up(inputs, simd.lanes) * simd.lanes;
  float* x = scratch(kRowsSlot, floats(rows * padded));
  shared.x = x;
  const std::int64_t fills = std::clamp<std::int64_t>(
      rows * (inputs + job.outputs) / 32768,
      1,
      std::min<std::int64_t>(8, rows));
  for_each_chunk(fills, [&](std::int64_t chunk) {
    const ChunkRange range = chunk_range(rows, 1, fills, chunk);
    if (gradient != nullptr)
      simd.share_gradient(
          job, range.begin, range.end, gradient + range.begin * job.outputs);
    simd.share_x(job, rows, range.begin, range.end, x);
  });

  PointwiseCut by_rows = cut_pointwise(rows, job.outputs, inputs, simd.columns);
  if (!job.x.plain()) { // scattered rows of one image may meet
    by_rows.row_chunks = 1;
    by_rows.panel_chunks = 1;
  }
  const std::int64_t x_chunks =
      job.x_gradient == nullptr ? 0 : by_rows.chunks();
  const std::int64_t run = kGradientRuns * inputs;
  std::vector<double> parts =
      parts_for(job.sums != nullptr, by_rows.row_chunks, run);
  const std::int64_t groups = divide_up(job.outputs, simd.outputs_at_once);
  const std::int64_t weight_chunks = std::clamp<std::int64_t>(
      rows * inputs * job.outputs / kChunkWork,
      1,
      std::min(groups, kMostPointwiseChunks));
  for_each_chunk(x_chunks + weight_chunks, [&](std::int64_t chunk) {
    if (chunk < x_chunks) {
      simd.x_gradient(
          job,
          shared,
          by_rows.piece(chunk),
          parts.empty() ? nullptr
                        : parts.data() + by_rows.row_chunk(chunk) * run);
      return;
    }
    const ChunkRange range = chunk_range(
        job.outputs, simd.outputs_at_once, weight_chunks, chunk - x_chunks);
    simd.weight_gradient(job, shared, range.begin, range.end);
  });
  if (job.sums != nullptr)
    merge_gradient_sums(by_rows.row_chunks, inputs, parts.data(), *job.sums);
}

void add_partials(
    std::int64_t chunks,
    std::int64_t partial,
    std::int64_t stride,
    const float* partials,
    std::int64_t inputs,
    std::int64_t outputs,
    float* weight_gradient) {
  const std::int64_t pieces =
      std::clamp<std::int64_t>(chunks * inputs * outputs / 65536, 1, 8);
  for_each_chunk(pieces, [&](std::int64_t piece) {
    const ChunkRange range = chunk_range(outputs, 1, pieces, piece);
    for (std::int64_t n = range.begin; n < range.end; ++n) {
      float* __restrict to = weight_gradient + n * inputs;
      std::memcpy(to, partials + n * stride, floats(inputs) * sizeof(float));
      for (std::int64_t i = 1; i < chunks; ++i) {
        const float* from = partials + i * partial + n * stride;
        for (std::int64_t k = 0; k < inputs; ++k)
          to[k] += from[k];
      }
    }
  });
}

// Every chunk of rows has a weight gradient of its own, which are added in the
// order of chunks. Rows that are scattered are cut between images.
void backward_of_many_rows(
    const PointwiseBackward& job,
    const PointwiseTable& simd,
    const float* packed) {
  const std::int64_t rows = job.x.rows();
  const std::int64_t inputs = job.x.length();
  const std::int64_t stride = divide_up(inputs, simd.lanes) * simd.lanes;
  const std::int64_t partial = divide_up(job.outputs, 4) * 4 * stride;
  const bool scattered = job.x_gradient != nullptr && !job.x.plain();
  const std::int64_t grain = scattered ? rows / job.x.images : kGrain;
  const std::int64_t room = std::clamp<std::int64_t>(
      (1 << 21) / partial,
      4,
      std::max<std::int64_t>(
          4, std::min(kMostPointwiseChunks, divide_up(rows, grain))));
  const std::int64_t chunks = room / 2 * 2; // two threads have as many each
  float* partials = scratch(kPartialSlot, floats(chunks * partial));
  const std::int64_t run = kGradientRuns * inputs;
  std::vector<double> parts = parts_for(job.sums != nullptr, chunks, run);
  const std::int64_t panels = divide_up(inputs, simd.columns);
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    const ChunkRange range = chunk_range(rows, grain, chunks, chunk);
    simd.backward(
        job,
        packed,
        {range.begin, range.end, 0, panels},
        partials + chunk * partial,
        parts.empty() ? nullptr : parts.data() + chunk * run);
  });
  if (job.sums != nullptr)
    merge_gradient_sums(chunks, inputs, parts.data(), *job.sums);
  add_partials(
      chunks,
      partial,
      stride,
      partials,
      inputs,
      job.outputs,
      job.weight_gradient);
}

} // namespace

void pointwise_forward(const PointwiseForward& job) {
  const PointwiseTable& simd = pointwise_table_in_use();
  const std::int64_t rows = job.x.rows();
  const std::int64_t inputs = job.x.length();
  const PointwiseCut pieces =
      cut_pointwise(rows, inputs, job.outputs, simd.columns);
  const float* packed = packed_panels(
      simd.pack_outputs,
      job.weight,
      inputs,
      job.outputs,
      pieces.panels,
      simd.columns,
      inputs);
  const float* ready = nullptr;
  if (pieces.panel_chunks > 1 &&
      (job.before.scale != nullptr || !job.x.plain())) {
    float* all = scratch(kRowsSlot, floats(rows * inputs));
    const std::int64_t fills = std::clamp<std::int64_t>(
        rows * inputs / 32768, 1, std::min<std::int64_t>(8, rows));
    for_each_chunk(fills, [&](std::int64_t chunk) {
      const ChunkRange range = chunk_range(rows, 1, fills, chunk);
      simd.read_rows(
          job.x,
          job.before,
          range.begin,
          range.end,
          all + range.begin * inputs);
    });
    ready = all;
  }
  const std::int64_t run = kMomentRuns * job.outputs;
  std::vector<double> parts =
      parts_for(job.moments != nullptr, pieces.row_chunks, run);
  for_each_chunk(pieces.chunks(), [&](std::int64_t chunk) {
    simd.forward(
        job,
        packed,
        ready,
        pieces.piece(chunk),
        parts.empty() ? nullptr : parts.data() + pieces.row_chunk(chunk) * run);
  });
  if (job.moments == nullptr) return;
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < pieces.row_chunks; ++i)
    counts.push_back(pieces.row_range(i).end - pieces.row_range(i).begin);
  merge_moments(
      pieces.row_chunks,
      job.outputs,
      counts.data(),
      parts.data(),
      *job.moments);
}

void pointwise_backward(const PointwiseBackward& job) {
  const PointwiseTable& simd = pointwise_table_in_use();
  const std::int64_t inputs = job.x.length();
  const float* packed = nullptr;
  if (job.x_gradient != nullptr) {
    packed = packed_panels(
        simd.pack_inputs,
        job.weight,
        inputs,
        job.outputs,
        divide_up(inputs, simd.columns),
        simd.columns,
        job.outputs);
    if (!job.x.plain()) {
      const RowSource& x = job.x;
      std::memset(
          job.x_gradient,
          0,
          floats(x.images * x.height * x.width * x.channels) * sizeof(float));
    }
  }
  if (few_rows(job))
    backward_of_few_rows(job, simd, packed);
  else
    backward_of_many_rows(job, simd, packed);
}

} // namespace temper::kernels
