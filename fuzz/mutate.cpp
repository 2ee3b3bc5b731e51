#include "mutate.h"

#include <algorithm>
#include <cstdint>

namespace temper::fuzz {
namespace {

constexpr std::size_t kLongest = 1 << 16;

std::size_t below(std::mt19937& random, std::size_t bound) {
  return bound == 0 ? 0 : random() % bound;
}

// Numbers that headers are hurt by.
std::string hurtful(std::mt19937& random) {
  constexpr std::uint64_t kNumbers[] = {
      0,
      1,
      0x7f,
      0x80,
      0xff,
      0x7fff,
      0xffff,
      0x7fffffff,
      0x80000000,
      0xffffffff,
      0x7fffffffffffffff,
      0xffffffffffffffff};
  const std::uint64_t number = kNumbers[below(random, std::size(kNumbers))];
  const std::size_t bytes = std::size_t{1} << below(random, 4);
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i)
    text += static_cast<char>(number >> (8 * i));
  if (below(random, 2) == 0) std::reverse(text.begin(), text.end());
  return text;
}

void change(
    std::string& input,
    const std::vector<std::string>& seeds,
    std::mt19937& random) {
  const std::size_t at = below(random, input.size() + 1);
  const std::size_t length = below(random, input.size() - at + 1);
  switch (below(random, 7)) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      if (at < input.size()) input[at] = static_cast<char>(random());
      break;
    case 2:
    case 3: {
      const std::string number = hurtful(random);
      // Half of them near the front, where the headers are.
      const std::size_t where = below(random, 2) == 0
          ? at
          : below(random, std::min<std::size_t>(input.size(), 64) + 1);
      input.replace(
          where, std::min(number.size(), input.size() - where), number);
      break;
    }
    case 4:
      input.resize(at);
      break;
    case 5:
      input.erase(at, length);
      break;
    case 6:
      if (input.size() < kLongest) {
        const auto& other = seeds[below(random, seeds.size())];
        input.insert(at, other, below(random, other.size() + 1), length + 1);
      }
      break;
  }
}

} // namespace

std::string mutate(
    const std::vector<std::string>& seeds,
    std::mt19937& random) {
  std::string input = seeds[below(random, seeds.size())];
  for (std::size_t n = 1 + below(random, 6); n > 0; --n)
    change(input, seeds, random);
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

} // namespace temper::fuzz
