#include "temper/kernels/conv/depthwise.h"

#include <algorithm>
#include <vector>

#include "temper/kernels/conv/depthwise_table.h"
#include "temper/kernels/norm/batch_norm_table.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

namespace baseline {
extern const DepthwiseTable depthwise_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const DepthwiseTable depthwise_table;
}
namespace avx512 {
extern const DepthwiseTable depthwise_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const DepthwiseTable depthwise_table;
}
#endif

namespace {

const DepthwiseTable& depthwise_table_in_use() {
  static const PerTarget<DepthwiseTable> tables {
    &baseline::depthwise_table,
#if defined(__x86_64__)
        &avx2::depthwise_table, &avx512::depthwise_table, nullptr
#elif defined(__aarch64__)
        nullptr, nullptr, &neon::depthwise_table
#endif
  };
  return tables.in_use();
}

constexpr int kPackedTapsSlot = 9;
constexpr std::int64_t kMostDepthwiseChunks = 16;
constexpr std::int64_t kDepthwiseChunkNumbers = 16384; // of the input
// Channels are cut where no vector unit and no cache line is cut.
constexpr std::int64_t kChannelGrain = 64;

// Images first; channels where images are few.
struct DepthwiseCut {
  std::int64_t image_chunks = 1;
  std::int64_t channel_chunks = 1;
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t lanes = 1;

  std::int64_t chunks() const {
    return image_chunks * channel_chunks;
  }
  std::int64_t image_chunk(std::int64_t chunk) const {
    return chunk / channel_chunks;
  }
  ChunkRange image_range(std::int64_t image_chunk) const {
    return chunk_range(images, 1, image_chunks, image_chunk);
  }
  DepthwisePiece piece(std::int64_t chunk) const {
    const ChunkRange images_of = image_range(image_chunk(chunk));
    const ChunkRange channels_of = chunk_range(
        channels, kChannelGrain, channel_chunks, chunk % channel_chunks);
    return {
        images_of.begin,
        images_of.end,
        channels_of.begin / lanes,
        (channels_of.end + lanes - 1) / lanes};
  }
};

DepthwiseCut cut_depthwise(const DepthwiseShape& shape, std::int64_t lanes) {
  DepthwiseCut found;
  found.images = shape.images;
  found.channels = shape.channels;
  found.lanes = lanes;
  const std::int64_t numbers =
      shape.images * shape.height * shape.width * shape.channels;
  const std::int64_t worth = std::clamp<std::int64_t>(
      numbers / kDepthwiseChunkNumbers, 1, kMostDepthwiseChunks);
  found.image_chunks = std::min(worth, shape.images);
  const std::int64_t grains =
      (shape.channels + kChannelGrain - 1) / kChannelGrain;
  found.channel_chunks =
      std::min((worth + found.image_chunks - 1) / found.image_chunks, grains);
  return found;
}

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

std::int64_t packed_floats(const DepthwiseShape& shape, std::int64_t lanes) {
  return (shape.channels + lanes - 1) / lanes * lanes * shape.kernel *
      shape.kernel;
}

const float* packed_taps(
    const DepthwiseTable& simd,
    const DepthwiseShape& shape,
    const float* weight) {
  float* packed =
      scratch(kPackedTapsSlot, size(packed_floats(shape, simd.lanes)));
  simd.pack(shape, weight, packed);
  return packed;
}

// The chunks' sums in the order of chunks, into those of the first one.
void add_weights(
    std::int64_t chunks,
    const DepthwiseShape& shape,
    std::int64_t lanes,
    double* parts,
    float* weight_gradient) {
  const std::int64_t taps = shape.kernel * shape.kernel;
  const std::int64_t run = packed_floats(shape, lanes);
  for (std::int64_t i = 1; i < chunks; ++i)
    for (std::int64_t at = 0; at < run; ++at)
      parts[at] += parts[i * run + at];
  for (std::int64_t c = 0; c < shape.channels; ++c)
    for (std::int64_t k = 0; k < taps; ++k)
      weight_gradient[c * taps + k] =
          static_cast<float>(parts[(c / lanes * taps + k) * lanes + c % lanes]);
}

} // namespace

void depthwise_forward(const DepthwiseForward& job) {
  const DepthwiseTable& simd = depthwise_table_in_use();
  const DepthwiseShape& shape = job.shape;
  const DepthwiseCut pieces = cut_depthwise(shape, simd.lanes);
  const float* packed = packed_taps(simd, shape, job.weight);
  const std::int64_t run = kMomentRuns * shape.channels;
  std::vector<double> parts(
      job.moments == nullptr ? 0 : size(pieces.image_chunks * run));
  for_each_chunk(pieces.chunks(), [&](std::int64_t chunk) {
    simd.forward(
        job,
        packed,
        pieces.piece(chunk),
        parts.empty() ? nullptr
                      : parts.data() + pieces.image_chunk(chunk) * run);
  });
  if (job.moments == nullptr) return;
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < pieces.image_chunks; ++i) {
    const ChunkRange images = pieces.image_range(i);
    counts.push_back(
        (images.end - images.begin) * shape.out_height() * shape.out_width());
  }
  merge_moments(
      pieces.image_chunks,
      shape.channels,
      counts.data(),
      parts.data(),
      *job.moments);
}

void depthwise_backward(const DepthwiseBackward& job) {
  const DepthwiseTable& simd = depthwise_table_in_use();
  const DepthwiseShape& shape = job.shape;
  const DepthwiseCut pieces = cut_depthwise(shape, simd.lanes);
  const float* packed = packed_taps(simd, shape, job.weight);
  const std::int64_t weights_run = packed_floats(shape, simd.lanes);
  const std::int64_t run = kGradientRuns * shape.channels;
  std::vector<double> weights(size(pieces.image_chunks * weights_run));
  std::vector<double> parts(
      job.sums == nullptr ? 0 : size(pieces.image_chunks * run));
  for_each_chunk(pieces.chunks(), [&](std::int64_t chunk) {
    const std::int64_t images = pieces.image_chunk(chunk);
    simd.backward(
        job,
        packed,
        pieces.piece(chunk),
        weights.data() + images * weights_run,
        parts.empty() ? nullptr : parts.data() + images * run);
  });
  add_weights(
      pieces.image_chunks,
      shape,
      simd.lanes,
      weights.data(),
      job.weight_gradient);
  if (job.sums != nullptr)
    merge_gradient_sums(
        pieces.image_chunks, shape.channels, parts.data(), *job.sums);
}

} // namespace temper::kernels
