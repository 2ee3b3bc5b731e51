#include "temper/base/random/permutation.h"

#include <utility>

#include "temper/base/error.h"
#include "temper/base/random/philox.h"

namespace temper {

std::uint64_t mix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

Permutation::Permutation(std::uint64_t size, std::uint64_t key) : size_(size) {
  if (size < kSmall) {
    for (std::uint64_t i = 0; i < size; ++i)
      small_[i] = static_cast<std::uint8_t>(i);
    RandomStream random(key, 0, 0);
    for (std::uint64_t i = size; i > 1; --i)
      std::swap(
          small_[i - 1], small_[random.below(static_cast<std::uint32_t>(i))]);
    return;
  }
  int bits = 0;
  while (bits < 64 && (size - 1) >> bits != 0)
    ++bits;
  half_bits_ = (bits + 1) / 2;
  for (std::uint64_t round = 0; round < round_keys_.size(); ++round)
    round_keys_[round] = mix64(key ^ mix64(round));
}

std::uint64_t Permutation::operator()(std::uint64_t position) const {
  check(position < size_, "a position of the permutation");
  if (size_ < kSmall) return small_[position];
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t value = position;
  do {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (const std::uint64_t key : round_keys_)
      left = std::exchange(right, left ^ (mix64(right ^ key) & mask));
    value = left << half_bits_ | right;
  } while (value >= size_);
  return value;
}

} // namespace temper
