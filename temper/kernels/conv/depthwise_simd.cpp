// Forward of depthwise.h, and the table. Every row of the input passes through
// the normalisation before the convolution once, into a ring of rows; an output
// row is made from the ring, and counted into the moments as it is written.
#include "temper/kernels/conv/depthwise_rows.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Window rows that lie in the image, one after another in the kernel.
struct Window {
  const float* rows[5];
  std::int64_t count = 0;
  std::int64_t first = 0; // kernel row of rows[0]
};

// Columns of an output row that are made at once.
constexpr int kColumns = kLanes == 16 || kTileVectors == 4 ? 8 : 4;

template <int kKernel, int kStride, int kCount>
[[gnu::always_inline]] inline void taps(
    const Window& window,
    std::int64_t column,
    const float* weights,
    Vec (&sums)[kCount]) {
  constexpr int kReach = (kCount - 1) * kStride + kKernel;
  for (std::int64_t k = 0; k < window.count; ++k) {
    const float* row = window.rows[k] + column * kStride * kLanes;
    const float* w = weights + (window.first + k) * kKernel * kLanes;
#pragma GCC unroll 24
    for (int j = 0; j < kReach; ++j) {
      const Vec x = load(row + j * kLanes);
#pragma GCC unroll 8
      for (int t = 0; t < kCount; ++t)
        if (j >= t * kStride && j < t * kStride + kKernel)
          sums[t] += x * load(w + (j - t * kStride) * kLanes);
    }
  }
}

struct RowSums {
  const float* pivot;
  float* first;
  float* second;
};

template <int kKernel, int kStride, bool kMoments>
struct OutputRow {
  const Window& window;
  const float* weights;
  std::int64_t width; // of the output
  std::int64_t channels;
  float* y;
  RowSums sums;

  template <int kCount, class Lanes>
  [[gnu::always_inline]] void columns(
      Lanes lanes,
      std::int64_t column,
      Vec pivot,
      Vec& first,
      Vec& second) const {
    Vec results[kCount] = {};
    taps<kKernel, kStride, kCount>(window, column, weights, results);
#pragma GCC unroll 8
    for (int t = 0; t < kCount; ++t) {
      __builtin_prefetch(y + (column + t + width) * channels, 1);
      lanes.store(y + (column + t) * channels, results[t]);
      if constexpr (kMoments) {
        const Vec away = results[t] - pivot;
        first += away;
        second += away * away;
      }
    }
  }

  template <class Lanes>
  [[gnu::always_inline]] void run(Lanes lanes) const {
    Vec pivot = {};
    Vec first = {};
    Vec second = {};
    if constexpr (kMoments) pivot = load(sums.pivot);
    std::int64_t w = 0;
    for (; w + kColumns <= width; w += kColumns)
      columns<kColumns>(lanes, w, pivot, first, second);
    if constexpr (kColumns > 4)
      for (; w + 4 <= width; w += 4)
        columns<4>(lanes, w, pivot, first, second);
    for (; w + 2 <= width; w += 2)
      columns<2>(lanes, w, pivot, first, second);
    if (w < width) columns<1>(lanes, w, pivot, first, second);
    if constexpr (kMoments) {
      store(sums.first, load(sums.first) + first);
      store(sums.second, load(sums.second) + second);
    }
  }
};

template <int kKernel, int kStride>
struct DepthwiseForwardPiece {
  const DepthwiseForward& job;
  const float* packed;
  const DepthwisePiece& piece;
  double* parts;
  RingRows ring;
  float* pivots = nullptr; // [vectors, lanes], as are the sums
  float* first = nullptr;
  float* second = nullptr;

  static constexpr std::int64_t kPadding = (kKernel - 1) / 2;

  void fill_row(
      std::int64_t image,
      std::int64_t h,
      std::int64_t v,
      std::int64_t count) const {
    const DepthwiseShape& shape = job.shape;
    const float* x =
        job.x + (image * shape.height + h) * shape.width * shape.channels;
    for (std::int64_t i = 0; i < count; ++i)
      FillAffine{
          from_channel(job.before, (v + i) * kLanes),
          shape.width,
          channels_of(shape.channels, v + i),
          x + (v + i) * kLanes,
          shape.channels,
          ring.row(i, h) + kPadding * kLanes}
          .fill();
  }

  template <bool kMoments>
  void output_row(
      std::int64_t image,
      std::int64_t oh,
      std::int64_t v,
      std::int64_t count) const {
    const DepthwiseShape& shape = job.shape;
    const std::int64_t top = oh * kStride - kPadding;
    Window window;
    window.first = top < 0 ? -top : 0;
    const std::int64_t room = shape.height - top;
    window.count = (room < kKernel ? room : kKernel) - window.first;
    const std::int64_t out_width = shape.out_width();
    float* y =
        job.y + (image * shape.out_height() + oh) * out_width * shape.channels;
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < window.count; ++k)
        window.rows[k] = ring.row(i, top + window.first + k);
      const OutputRow<kKernel, kStride, kMoments> row{
          window,
          packed + (v + i) * kKernel * kKernel * kLanes,
          out_width,
          shape.channels,
          y + (v + i) * kLanes,
          {pivots + i * kLanes, first + i * kLanes, second + i * kLanes}};
      const std::int64_t there = channels_of(shape.channels, v + i);
      if (there == kLanes)
        row.run(Whole{});
      else
        row.run(Part{static_cast<int>(there)});
    }
  }

  // The block's first row gives the pivots, and is counted after that.
  void count_first_row(std::int64_t image, std::int64_t v, std::int64_t count)
      const {
    const DepthwiseShape& shape = job.shape;
    const std::int64_t begin = v * kLanes;
    const float* y = job.y +
        image * shape.out_height() * shape.out_width() * shape.channels + begin;
    const std::int64_t stop = (v + count) * kLanes;
    const std::int64_t end = stop < shape.channels ? stop : shape.channels;
    clear(3 * count * kLanes, pivots);
    find_pivot(shape.out_width(), end - begin, y, shape.channels, pivots);
    for (std::int64_t c = begin; c < end; ++c) {
      parts[c] = static_cast<double>(pivots[c - begin]);
      parts[shape.channels + c] = 0;
      parts[2 * shape.channels + c] = 0;
    }
    over_vectors(
        end - begin,
        CountColumns{
            shape.out_width(), y, shape.channels, pivots, first, second});
  }

  void drain_sums(std::int64_t v, std::int64_t count) const {
    const std::int64_t channels = job.shape.channels;
    const std::int64_t begin = v * kLanes;
    const std::int64_t rest = channels - begin;
    const std::int64_t there = rest < count * kLanes ? rest : count * kLanes;
    drain(there, first, parts + channels + begin);
    drain(there, second, parts + 2 * channels + begin);
  }

  void block(std::int64_t v, std::int64_t count) {
    const DepthwiseShape& shape = job.shape;
    first = pivots + count * kLanes;
    second = first + count * kLanes;
    std::int64_t pending = 0;
    bool started = false; // with the moments
    for (std::int64_t n = piece.image_begin; n < piece.image_end; ++n) {
      std::int64_t filled = 0;
      for (std::int64_t oh = 0; oh < shape.out_height(); ++oh) {
        const std::int64_t reach = oh * kStride + kPadding + 1;
        const std::int64_t need = reach < shape.height ? reach : shape.height;
        for (; filled < need; ++filled)
          fill_row(n, filled, v, count);
        if (started) {
          output_row<true>(n, oh, v, count);
        } else {
          output_row<false>(n, oh, v, count);
          if (parts == nullptr) continue;
          count_first_row(n, v, count);
          started = true;
        }
        if (++pending < kFloatRows) continue;
        drain_sums(v, count);
        pending = 0;
      }
    }
    if (parts != nullptr) drain_sums(v, count);
  }

  void run() {
    const std::int64_t most = block_vectors(
        kKernel, job.shape.width, piece.vector_end - piece.vector_begin);
    ring.count = ring_count(kKernel);
    ring.width = job.shape.width;
    ring.padding = kPadding;
    const std::int64_t floats = most * ring.count * ring.row_floats();
    ring.memory = scratch(0, static_cast<std::size_t>(floats));
    clear(floats, ring.memory);
    pivots = scratch(1, static_cast<std::size_t>(3 * most * kLanes));
    for (std::int64_t v = piece.vector_begin; v < piece.vector_end; v += most) {
      const std::int64_t rest = piece.vector_end - v;
      block(v, rest < most ? rest : most);
    }
  }
};

template <int kKernel, int kStride>
void run_forward_piece(
    const DepthwiseForward& job,
    const float* packed,
    const DepthwisePiece& piece,
    double* parts) {
  DepthwiseForwardPiece<kKernel, kStride> work{job, packed, piece, parts, {}};
  work.run();
}

void depthwise_forward_piece(
    const DepthwiseForward& job,
    const float* packed,
    const DepthwisePiece& piece,
    double* parts) {
  if (job.shape.kernel == 3)
    return job.shape.stride == 1
        ? run_forward_piece<3, 1>(job, packed, piece, parts)
        : run_forward_piece<3, 2>(job, packed, piece, parts);
  job.shape.stride == 1 ? run_forward_piece<5, 1>(job, packed, piece, parts)
                        : run_forward_piece<5, 2>(job, packed, piece, parts);
}

void pack(const DepthwiseShape& shape, const float* weight, float* packed) {
  const std::int64_t taps_of = shape.kernel * shape.kernel;
  for (std::int64_t c = 0; c < whole_vectors(shape.channels); ++c)
    for (std::int64_t k = 0; k < taps_of; ++k)
      packed[(c / kLanes * taps_of + k) * kLanes + c % kLanes] =
          c < shape.channels ? weight[c * taps_of + k] : 0.0F;
}

} // namespace

extern const DepthwiseTable depthwise_table;
const DepthwiseTable depthwise_table = {
    kLanes,
    pack,
    depthwise_forward_piece,
    depthwise_backward_piece};

} // namespace temper::kernels::TEMPER_TARGET
