#include "temper/base/digest/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "temper/base/byte_order.h"
#include "temper/base/hex.h"

namespace temper {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

} // namespace

void Sha256::block(const std::uint8_t* at) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = read_big_endian<std::uint32_t>(at + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] +
        (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
        (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto s = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one = s[7] +
        (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) +
        ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
    const std::uint32_t two =
        (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) +
        ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::rotate(s.begin(), s.end() - 1, s.end());
    s[4] += one;
    s[0] = one + two;
  }
  for (std::size_t i = 0; i < 8; ++i)
    state_[i] += s[i];
}

void Sha256::add(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::uint8_t*>(data);
  const std::size_t held = bytes_ % pending_.size();
  bytes_ += bytes;
  if (held > 0) {
    const std::size_t taken = std::min(bytes, pending_.size() - held);
    if (taken > 0) std::memcpy(pending_.data() + held, at, taken);
    if (held + taken < pending_.size()) return;
    block(pending_.data());
    at += taken;
    bytes -= taken;
  }
  for (; bytes >= pending_.size(); bytes -= pending_.size()) {
    block(at);
    at += pending_.size();
  }
  if (bytes > 0) std::memcpy(pending_.data(), at, bytes);
}

std::string Sha256::hex() const {
  Sha256 end = *this;
  const std::uint64_t bits = bytes_ * 8;
  std::array<std::uint8_t, 72> padding{0x80};
  // A one bit, zeros up to 8 bytes before the end of a block, the length.
  const std::size_t zeros = (bytes_ % 64 < 56 ? 56 : 120) - bytes_ % 64;
  std::array<std::uint8_t, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  end.add(padding.data(), zeros);
  end.add(length.data(), length.size());
  std::string text;
  for (const std::uint32_t word : end.state_)
    for (int shift = 28; shift >= 0; shift -= 4)
      text += kHexDigits[(word >> shift) & 15];
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 sum;
  sum.add(text.data(), text.size());
  return sum.hex();
}

} // namespace temper
