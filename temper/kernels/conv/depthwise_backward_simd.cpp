// Backward of depthwise.h. An input pixel's gradient is a sum over the outputs
// it went into, and the weights' gradients are products of the same pixel with
// the same outputs: so one visit of every pixel makes both, and only dY needs
// its rows around. dY passes through the normalisation after the convolution
// once, into a ring of rows.
//
// With a stride of 2 a pixel meets only the taps of its own parity, which are
// known when the code is compiled.
#include "temper/kernels/conv/depthwise_rows.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/simd/stream.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// One vector of channels of a dY row into a ring.
struct FillGradient {
  NormGradient norm; // of the vector's channels, at the row
  std::int64_t width;
  std::int64_t there;
  const float* g;
  std::int64_t stride;
  float* to;

  template <class Lanes>
  [[gnu::always_inline]] void copy(Lanes lanes) const {
    const FillGradient own = *this;
    for (std::int64_t w = 0; w < own.width; ++w) {
      __builtin_prefetch(own.g + (w + own.width) * own.stride);
      store(own.to + w * kLanes, lanes.load(own.g + w * own.stride));
    }
  }
  template <Activation kAct, class Lanes>
  [[gnu::always_inline]] void map(Lanes lanes) const {
    const Vec scale = lanes.load(norm.scale);
    const Vec shift = lanes.load(norm.shift);
    const Vec mean = lanes.load(norm.mean);
    const Vec slope = lanes.load(norm.slope);
    const Vec offset = lanes.load(norm.offset);
    // Copies, which no store can change.
    const float* from = g;
    const float* x = norm.x;
    float* out = to;
    const std::int64_t step = stride;
    const std::int64_t row = width * step;
    for (const float* end = from + row; from < end; from += step, x += step) {
      __builtin_prefetch(x + row);
      __builtin_prefetch(from + row);
      const Vec at = lanes.load(x);
      const Vec through =
          through_activation<kAct>(lanes.load(from), at * scale + shift);
      store(out, scale * through + (slope * (at - mean) + offset));
      out += kLanes;
    }
  }
  template <Activation kAct>
  void run() const {
    if (there == kLanes)
      map<kAct>(Whole{});
    else
      map<kAct>(Part{static_cast<int>(there)});
  }
  void fill() const {
    if (norm.x != nullptr)
      with_activation(norm.act, *this);
    else if (there == kLanes)
      copy(Whole{});
    else
      copy(Part{static_cast<int>(there)});
  }
};

// The kRows rows of dY that an input row meets, against one vector of channels:
// gradients[width] of the pixels, and products added to `products`. Row i
// belongs to kernel row i * kStride of `weights` and `products`.
template <int kKernel, int kStride, int kRows>
struct Meet {
  const float* rows[kRows];
  std::int64_t width;
  const float* x; // [width, lanes], after the activation
  const float* weights;
  float* gradients;
  float* products;

  static constexpr int kPadding = (kKernel - 1) / 2;

  template <int kPhase>
  [[gnu::always_inline]] void pixel(std::int64_t w, Vec (&sums)[kRows][kKernel])
      const {
    const Vec at = load(x + (w + kPhase) * kLanes);
    Vec gradient = {};
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 5
      for (int k = 0; k < kKernel; ++k)
        if ((kPhase + kPadding - k) % kStride == 0) {
          const std::int64_t column =
              w / kStride + (kPhase + kPadding - k) / kStride + kPadding;
          const Vec dy = load(rows[i] + column * kLanes);
          gradient += dy * load(weights + (i * kStride * kKernel + k) * kLanes);
          sums[i][k] += dy * at;
        }
    store(gradients + (w + kPhase) * kLanes, gradient);
  }

  void run() const {
    Vec sums[kRows][kKernel] = {};
    std::int64_t w = 0;
    for (; w + kStride <= width; w += kStride) {
      pixel<0>(w, sums);
      if constexpr (kStride == 2) pixel<1>(w, sums);
    }
    if (w < width) pixel<0>(w, sums);
#pragma GCC unroll 5
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 5
      for (int k = 0; k < kKernel; ++k) {
        float* to = products + (i * kStride * kKernel + k) * kLanes;
        store(to, load(to) + sums[i][k]);
      }
  }
};

// The end of a row of gradients: the activation, sums, the residual's
// gradient, and memory. It takes one vector of channels, or those of a cache
// line, which are streamed.
struct FinishRow {
  const DepthwiseBackward& job;
  std::int64_t at; // of the row's first pixel and the vector's first channel
  std::int64_t c;
  std::int64_t there;
  const float* gradients; // [vectors, width, lanes]
  float* first;
  float* second;
  bool streamed;

  template <int kVectors, bool kStream, class Lanes>
  [[gnu::always_inline]] void plain(Lanes lanes) const {
    const std::int64_t width = job.shape.width;
    const std::int64_t step = job.shape.channels;
    const float* add = job.x_gradient_add;
    const float* from = gradients;
    float* to = job.x_gradient;
    for (std::int64_t w = 0; w < width; ++w)
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        const std::int64_t here = at + w * step + j * kLanes;
        Vec g = load(from + (j * width + w) * kLanes);
        if (add != nullptr) g += lanes.load(add + here);
        store_or_stream<kStream>(lanes, to + here, g);
      }
  }
  template <Activation kAct, int kVectors, bool kStream, class Lanes>
  [[gnu::always_inline]] void map(Lanes lanes) const {
    Vec scale[kVectors];
    Vec shift[kVectors];
    Vec mean[kVectors];
    Vec a[kVectors] = {};
    Vec b[kVectors] = {};
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      scale[j] = lanes.load(job.before.scale + c + j * kLanes);
      shift[j] = lanes.load(job.before.shift + c + j * kLanes);
      mean[j] = lanes.load(job.before_mean + c + j * kLanes);
    }
    // Copies, which no store can change.
    const float* x = job.x + at;
    const float* from = gradients;
    float* to = job.x_gradient + at;
    const std::int64_t other = job.shape.width * kLanes;
    const std::int64_t step = job.shape.channels;
    const std::int64_t row = job.shape.width * step;
    for (const float* end = x + row; x < end; x += step, to += step) {
      if constexpr (!kStream) __builtin_prefetch(to + row, 1);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        const Vec here = lanes.load(x + j * kLanes);
        const Vec g = through_activation<kAct>(
            load(from + j * other), here * scale[j] + shift[j]);
        a[j] += g;
        b[j] += g * (here - mean[j]);
        store_or_stream<kStream>(lanes, to + j * kLanes, g);
      }
      from += kLanes;
    }
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      store(first + j * kLanes, load(first + j * kLanes) + a[j]);
      store(second + j * kLanes, load(second + j * kLanes) + b[j]);
    }
  }
  template <Activation kAct>
  void run() const {
    if (streamed)
      map<kAct, kLineVectors, true>(Whole{});
    else if (there == kLanes)
      map<kAct, 1, false>(Whole{});
    else
      map<kAct, 1, false>(Part{static_cast<int>(there)});
  }
  void finish() const {
    if (job.sums != nullptr)
      with_activation(job.before.act, *this);
    else if (streamed)
      plain<kLineVectors, true>(Whole{});
    else if (there == kLanes)
      plain<1, false>(Whole{});
    else
      plain<1, false>(Part{static_cast<int>(there)});
  }
};

template <int kKernel, int kStride>
struct BackwardPiece {
  const DepthwiseBackward& job;
  const float* packed;
  const DepthwisePiece& piece;
  double* weights;
  double* parts;
  RingRows ring; // of dY
  float* row_x = nullptr; // [width, lanes]
  float* row_gradient = nullptr; // the same, of every vector of a line
  float* products = nullptr; // [vectors of a block, kernel, kernel, lanes]
  float* first = nullptr; // [vectors of a block, lanes]
  float* second = nullptr;
  bool streamed = false; // x_gradient

  static constexpr std::int64_t kPadding = (kKernel - 1) / 2;
  static constexpr std::int64_t kTaps = kKernel * kKernel;
  static constexpr int kMostRows = (kKernel + kStride - 1) / kStride;

  void fill_row(
      std::int64_t image,
      std::int64_t oh,
      std::int64_t v,
      std::int64_t count) const {
    const DepthwiseShape& shape = job.shape;
    const std::int64_t at =
        (image * shape.out_height() + oh) * shape.out_width() * shape.channels;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t c = (v + i) * kLanes;
      NormGradient norm = job.after;
      if (norm.x != nullptr) {
        norm.x += at + c;
        norm.scale += c;
        norm.shift += c;
        norm.mean += c;
        norm.slope += c;
        norm.offset += c;
      }
      FillGradient{
          norm,
          shape.out_width(),
          channels_of(shape.channels, v + i),
          job.gradient + at + c,
          shape.channels,
          ring.row(i, oh) + kPadding * kLanes}
          .fill();
    }
  }

  template <int kRows>
  void meet(
      std::int64_t i,
      std::int64_t v,
      std::int64_t oh,
      std::int64_t kh,
      float* gradients) const {
    Meet<kKernel, kStride, kRows> work;
    for (int r = 0; r < kRows; ++r)
      work.rows[r] = ring.row(i, oh - r);
    work.width = job.shape.width;
    work.x = row_x;
    work.weights = packed + ((v + i) * kTaps + kh * kKernel) * kLanes;
    work.gradients = gradients;
    work.products = products + (i * kTaps + kh * kKernel) * kLanes;
    work.run();
  }

  template <int kRows>
  void meet_rows(
      std::int64_t rows,
      std::int64_t i,
      std::int64_t v,
      std::int64_t oh,
      std::int64_t kh,
      float* gradients) const {
    if (rows == kRows) return meet<kRows>(i, v, oh, kh, gradients);
    if constexpr (kRows > 1)
      meet_rows<kRows - 1>(rows, i, v, oh, kh, gradients);
  }

  void input_row(
      std::int64_t image,
      std::int64_t h,
      std::int64_t v,
      std::int64_t count) const {
    const DepthwiseShape& shape = job.shape;
    // Kernel rows of h's parity, the first whose output row is in the image.
    std::int64_t kh = (h + kPadding) % kStride;
    std::int64_t oh = (h + kPadding - kh) / kStride;
    for (; oh >= shape.out_height(); --oh)
      kh += kStride;
    std::int64_t rows = (kKernel - kh + kStride - 1) / kStride;
    if (rows > oh + 1) rows = oh + 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t c = (v + i) * kLanes;
      const std::int64_t at =
          (image * shape.height + h) * shape.width * shape.channels + c;
      const std::int64_t there = channels_of(shape.channels, v + i);
      FillAffine{
          from_channel(job.before, c),
          shape.width,
          there,
          job.x + at,
          shape.channels,
          row_x}
          .fill();
      const std::int64_t before = streamed ? i % kLineVectors : 0;
      float* gradients = row_gradient + before * shape.width * kLanes;
      if (rows <= 0)
        clear(shape.width * kLanes, gradients);
      else
        meet_rows<kMostRows>(rows, i, v, oh, kh, gradients);
      if (streamed && before + 1 < kLineVectors) continue;
      FinishRow{
          job,
          at - before * kLanes,
          c - before * kLanes,
          there,
          row_gradient,
          first + (i - before) * kLanes,
          second + (i - before) * kLanes,
          streamed}
          .finish();
    }
  }

  void drain_sums(std::int64_t v, std::int64_t count) const {
    drain(count * kTaps * kLanes, products, weights + v * kTaps * kLanes);
    if (job.sums == nullptr) return;
    const std::int64_t begin = v * kLanes;
    const std::int64_t rest = job.shape.channels - begin;
    const std::int64_t there = rest < count * kLanes ? rest : count * kLanes;
    drain(there, first, parts + begin);
    drain(there, second, parts + job.shape.channels + begin);
  }

  void block(std::int64_t v, std::int64_t count) {
    const DepthwiseShape& shape = job.shape;
    first = products + count * kTaps * kLanes;
    second = first + count * kLanes;
    clear(count * (kTaps + 2) * kLanes, products);
    std::int64_t pending = 0;
    for (std::int64_t n = piece.image_begin; n < piece.image_end; ++n) {
      std::int64_t filled = 0;
      for (std::int64_t h = 0; h < shape.height; ++h) {
        const std::int64_t reach = (h + kPadding) / kStride + 1;
        const std::int64_t need =
            reach < shape.out_height() ? reach : shape.out_height();
        for (; filled < need; ++filled)
          fill_row(n, filled, v, count);
        input_row(n, h, v, count);
        if (++pending < kFloatRows) continue;
        drain_sums(v, count);
        pending = 0;
      }
    }
    drain_sums(v, count);
  }

  void clear_parts() const {
    for (std::int64_t i = piece.vector_begin * kTaps * kLanes;
         i < piece.vector_end * kTaps * kLanes;
         ++i)
      weights[i] = 0;
    if (job.sums == nullptr) return;
    const std::int64_t channels = job.shape.channels;
    const std::int64_t stop = piece.vector_end * kLanes;
    const std::int64_t end = stop < channels ? stop : channels;
    for (std::int64_t c = piece.vector_begin * kLanes; c < end; ++c)
      parts[c] = parts[channels + c] = 0;
  }

  void run() {
    const DepthwiseShape& shape = job.shape;
    std::int64_t most = block_vectors(
        kKernel, shape.width, piece.vector_end - piece.vector_begin);
    streamed = streams(
        job.x_gradient,
        shape.images * shape.height * shape.width,
        shape.channels);
    if (streamed) most = most / kLineVectors * kLineVectors; // whole lines
    ring.count = ring_count(kKernel);
    ring.width = job.shape.out_width();
    ring.padding = kPadding;
    const std::int64_t floats = most * ring.count * ring.row_floats();
    ring.memory = scratch(0, static_cast<std::size_t>(floats));
    clear(floats, ring.memory);
    row_x = scratch(
        1, static_cast<std::size_t>((1 + kLineVectors) * shape.width * kLanes));
    row_gradient = row_x + shape.width * kLanes;
    products =
        scratch(2, static_cast<std::size_t>(most * (kTaps + 2) * kLanes));
    clear_parts();
    for (std::int64_t v = piece.vector_begin; v < piece.vector_end; v += most) {
      const std::int64_t rest = piece.vector_end - v;
      block(v, rest < most ? rest : most);
    }
    if (streamed) end_streams();
  }
};

template <int kKernel, int kStride>
void run_backward_piece(
    const DepthwiseBackward& job,
    const float* packed,
    const DepthwisePiece& piece,
    double* weights,
    double* parts) {
  BackwardPiece<kKernel, kStride> work{job, packed, piece, weights, parts, {}};
  work.run();
}

} // namespace

void depthwise_backward_piece(
    const DepthwiseBackward& job,
    const float* packed,
    const DepthwisePiece& piece,
    double* weights,
    double* parts) {
  if (job.shape.kernel == 3) {
    if (job.shape.stride == 1)
      run_backward_piece<3, 1>(job, packed, piece, weights, parts);
    else
      run_backward_piece<3, 2>(job, packed, piece, weights, parts);
  } else if (job.shape.stride == 1) {
    run_backward_piece<5, 1>(job, packed, piece, weights, parts);
  } else {
    run_backward_piece<5, 2>(job, packed, piece, weights, parts);
  }
}

} // namespace temper::kernels::TEMPER_TARGET
