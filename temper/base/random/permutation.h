// A shuffled order without an array: a keyed bijection of 0 .. size-1 that
// gives the index at any position in constant time and memory.
//
// A Feistel cipher over the next even power of two, walked until it lands
// inside (Black and Rogaway's cycle walking). Below kSmall the cipher has too
// few bits to be random, and a real shuffle of so few is cheap.
#pragma once

#include <array>
#include <cstdint>

namespace temper {

class Permutation {
 public:
  static constexpr std::uint64_t kSmall = 64;

  Permutation(std::uint64_t size, std::uint64_t key);

  std::uint64_t size() const {
    return size_;
  }
  // position < size
  std::uint64_t operator()(std::uint64_t position) const;

 private:
  std::uint64_t size_;
  int half_bits_ = 0;
  std::array<std::uint64_t, 8> round_keys_{};
  std::array<std::uint8_t, kSmall> small_{};
};

// A good 64-bit mixing of its argument (splitmix64's finaliser).
std::uint64_t mix64(std::uint64_t value);

} // namespace temper
