// Randomness as a pure function of a key and a position: Philox4x32-10
// (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). No
// state to save, no order to keep: sample 17 of epoch 3 draws the same numbers
// in any thread, before and after a resume.
#pragma once

#include <array>
#include <cstdint>

namespace temper {

// One block of four numbers.
std::array<std::uint32_t, 4> philox(
    std::array<std::uint32_t, 4> counter,
    std::array<std::uint32_t, 2> key);

// A stream of draws keyed by (seed, epoch, item, sub-stream). Each consumer (a
// transform, say) takes a sub-stream of its own, so that adding one does not
// shift the draws of the others.
class RandomStream {
 public:
  RandomStream(
      std::uint64_t seed,
      std::uint32_t epoch,
      std::uint64_t item,
      std::uint8_t substream = 0);

  // The same key, another sub-stream, from its beginning.
  RandomStream substream(std::uint8_t number) const;

  std::uint32_t bits() {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  // A number 0 <= x < 1, with 24 random bits.
  double uniform() {
    return (bits() >> 8) * (1.0 / 16777216.0);
  }
  double uniform(double low, double high) {
    return low + (high - low) * uniform();
  }
  // A number 0 <= x < bound; bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(
        (static_cast<std::uint64_t>(bits()) * bound) >> 32);
  }
  bool coin() {
    return (bits() >> 31) != 0;
  }
  // Standard normal, by Box and Muller.
  double normal();

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

} // namespace temper
