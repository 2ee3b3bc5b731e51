// The end of a convolution's data gradient (GradientEnd of batch_norm.h): what
// is added, the activation it passes, and the sums of what is written. For
// files named *_simd.cpp.
#pragma once

#include "temper/kernels/norm/activate.h"
#include "temper/kernels/norm/batch_norm.h"
#include "temper/kernels/norm/lanes.h"

namespace temper::kernels::TEMPER_TARGET {

constexpr int kEndedRows = 16;

// Rows of a gradient on their way to x_gradient.
struct EndedRows {
  const GradientEnd& end;
  float* x_gradient;
  std::int64_t first; // channel of a row's first number
  std::int64_t channels; // numbers of a row
  float* sums; // of all channels: gradients,
  float* products; // and gradients times x - mean
  int count = 0;
  const float* from[kEndedRows] = {};
  std::int64_t to[kEndedRows] = {}; // offsets in x_gradient

  void add(const float* row, std::int64_t pixel) {
    from[count] = row;
    to[count++] = pixel + first;
  }

  template <Activation kAct, bool kSums, class Lanes>
  [[gnu::always_inline]] void vector(Lanes lanes, std::int64_t c) const {
    Vec scale = {};
    Vec shift = {};
    Vec mean = {};
    if constexpr (kSums) {
      scale = lanes.load(end.before.scale + first + c);
      shift = lanes.load(end.before.shift + first + c);
      mean = lanes.load(end.mean + first + c);
    }
    Vec a = {};
    Vec b = {};
    for (int r = 0; r < count; ++r) {
      Vec g = lanes.load(from[r] + c);
      if (end.add != nullptr) g += lanes.load(end.add + to[r] + c);
      if constexpr (kSums) {
        const Vec x = lanes.load(end.x + to[r] + c);
        g = through_activation<kAct>(g, x * scale + shift);
        a += g;
        b += g * (x - mean);
      }
      lanes.store(x_gradient + to[r] + c, g);
    }
    if constexpr (kSums) {
      float* sum = sums + first + c;
      float* product = products + first + c;
      store(sum, load(sum) + a);
      store(product, load(product) + b);
    }
  }

  template <Activation kAct, bool kSums>
  void write() const {
    std::int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes)
      vector<kAct, kSums>(Whole{}, c);
    if (c < channels)
      vector<kAct, kSums>(Part{static_cast<int>(channels - c)}, c);
  }

  template <Activation kAct>
  void run() const {
    write<kAct, true>();
  }
};

inline void write_ended(const EndedRows& rows) {
  if (rows.end.x == nullptr)
    rows.write<Activation::kNone, false>();
  else
    with_activation(rows.end.before.act, rows);
}

[[gnu::always_inline]] inline bool ends(const GradientEnd& end) {
  return end.add != nullptr || end.x != nullptr;
}

} // namespace temper::kernels::TEMPER_TARGET
