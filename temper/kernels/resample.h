// The weights of a one-dimensional resampling, as Pillow computes them: in
// double, normalised, then rounded to fixed point with 22 bits. Used by resize,
// twice a call: across and down.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace temper::kernels {

enum class Filter { nearest, bilinear, bicubic };

// A weight of 1 is 1 << kWeightBits.
inline constexpr int kWeightBits = 22;

// Output i is the sum over t < count[i] of input first[i] + t times
// weights[i * taps + t].
struct ResampleWeights {
  int in = 0;
  int out = 0;
  Filter filter = Filter::nearest;
  int taps = 0; // room for so many; no output has more
  int most = 0; // the most an output has
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> count;
  std::vector<std::int32_t> weights; // 0 behind an output's own
  // The same two by two, cut into their upper 15 and lower 8 bits, for units
  // that multiply pairs of 16-bit numbers: w = 256 high + low. `pairs` of each
  // for an output; the first of two is in the lower half.
  int pairs = 0;
  std::vector<std::uint32_t> high;
  std::vector<std::uint32_t> low;
};

// `filter` is bilinear or bicubic; in and out are at least 1.
void compute_weights(int in, int out, Filter filter, ResampleWeights& result);

// The weights used last, so that crops of a size met before cost nothing. Of
// one thread. Holds at most kSlots tables of kLargestBytes: 4 MB.
class WeightsCache {
 public:
  // Valid until the next call.
  const ResampleWeights& get(int in, int out, Filter filter);

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kLargestBytes = 16384;

  std::array<ResampleWeights, kSlots> slots_;
  ResampleWeights large_;
};

} // namespace temper::kernels
