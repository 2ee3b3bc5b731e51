#include "temper/base/digest/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "temper/base/byte_order.h"
#include "temper/base/hex.h"

namespace temper {
namespace {

using State = std::array<std::uint32_t, 4>;

constexpr std::array<std::array<int, 4>, 4> kTurns{
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

// The first 32 bits behind the point of |sin(i + 1)|, as the RFC makes them.
std::uint32_t sine(int i) {
  return static_cast<std::uint32_t>(
      std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
}

void add_block(State& state, const std::uint8_t* at) {
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = read_little_endian<std::uint32_t>(at + 4 * i);
  auto [a, b, c, d] = state;
  for (int i = 0; i < 64; ++i) {
    std::uint32_t mixed = 0;
    int word = 0;
    switch (i / 16) {
      case 0:
        mixed = (b & c) | (~b & d);
        word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c);
        word = 5 * i + 1;
        break;
      case 2:
        mixed = b ^ c ^ d;
        word = 3 * i + 5;
        break;
      default:
        mixed = c ^ (b | ~d);
        word = 7 * i;
    }
    const std::uint32_t sum =
        a + mixed + sine(i) + words[static_cast<std::size_t>(word % 16)];
    a = d;
    d = c;
    c = b;
    b += std::rotl(
        sum,
        kTurns[static_cast<std::size_t>(i / 16)]
              [static_cast<std::size_t>(i % 4)]);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

} // namespace

std::string md5_hex(std::string_view text) {
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56)
    padded += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  padded += little_endian_text(bits, 8);
  for (std::size_t at = 0; at < padded.size(); at += 64)
    add_block(state, reinterpret_cast<const std::uint8_t*>(padded.data() + at));
  std::string hex;
  for (const std::uint32_t word : state)
    hex += hex_of_bytes(little_endian_text(word, 4));
  return hex;
}

} // namespace temper
