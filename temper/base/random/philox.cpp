#include "temper/base/random/philox.h"

#include <cmath>

namespace temper {
namespace {

constexpr std::uint32_t kMultiply0 = 0xD2511F53U;
constexpr std::uint32_t kMultiply1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
constexpr int kRounds = 10;

} // namespace

std::array<std::uint32_t, 4> philox(
    std::array<std::uint32_t, 4> c,
    std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{kMultiply0} * c[0];
    const std::uint64_t b = std::uint64_t{kMultiply1} * c[2];
    c = {
        static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key[0],
        static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key[1],
        static_cast<std::uint32_t>(a)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return c;
}

// The counter: draws (24 bits) and sub-stream (8 bits), epoch, item.
RandomStream::RandomStream(
    std::uint64_t seed,
    std::uint32_t epoch,
    std::uint64_t item,
    std::uint8_t substream)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{
          std::uint32_t{substream} << 24,
          epoch,
          static_cast<std::uint32_t>(item),
          static_cast<std::uint32_t>(item >> 32)} {}

RandomStream RandomStream::substream(std::uint8_t number) const {
  RandomStream other = *this;
  other.counter_[0] = std::uint32_t{number} << 24;
  other.used_ = 4;
  return other;
}

void RandomStream::refill() {
  block_ = philox(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

double RandomStream::normal() {
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(kTwoPi * uniform());
}

} // namespace temper
