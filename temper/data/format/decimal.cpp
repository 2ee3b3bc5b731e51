// Clinger's fast path: a whole number below 2^53 and a power of ten up to
// 10^22 are both exact as doubles, so that one multiplication or division
// rounds once, and correctly. With up to 18 digits the result may be an ulp or
// two off; it is taken when that cannot change the float it rounds to.
#include "temper/data/format/decimal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "temper/base/text.h"

namespace temper::data {
namespace {

constexpr std::array<double, 23> kPowersOfTen{
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExactLimit = std::uint64_t{1} << 53;
constexpr int kLargestExponent = 100000;

// A number's parts; nothing when the text is not one.
struct Parts {
  bool negative = false;
  std::uint64_t digits = 0; // the first 18 that count
  int exponent = 0; // of ten
  bool all_digits = true; // none were left out
};

std::optional<Parts> decimal_parts(std::string_view text) {
  Parts parts;
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+'))
    parts.negative = text[at++] == '-';
  int taken = 0;
  bool any = false;
  bool after_point = false;
  for (; at < text.size(); ++at) {
    if (text[at] == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!is_digit(text[at])) break;
    any = true;
    if (taken < 18) {
      parts.digits =
          parts.digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
      if (parts.digits > 0) ++taken;
      if (after_point) --parts.exponent;
    } else {
      parts.all_digits = false;
    }
  }
  if (!any) return std::nullopt;
  if (at == text.size()) return parts;
  if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
  ++at;
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+'))
    negative = text[at++] == '-';
  if (at == text.size()) return std::nullopt;
  int exponent = 0;
  for (; at < text.size(); ++at) {
    if (!is_digit(text[at])) return std::nullopt;
    exponent = std::min(exponent * 10 + (text[at] - '0'), kLargestExponent);
  }
  parts.exponent += negative ? -exponent : exponent;
  return parts;
}

bool same_float_nearby(double value) {
  constexpr double kSlack = 0x1p-50;
  constexpr auto kLargest =
      static_cast<double>(std::numeric_limits<float>::max());
  return value < kLargest / 2 &&
      static_cast<float>(value * (1 - kSlack)) ==
      static_cast<float>(value * (1 + kSlack));
}

} // namespace

std::optional<double> parse_decimal(std::string_view text) {
  // Nobody writes longer ones, and the exponent must not overflow.
  constexpr std::size_t kLongest = 400;
  if (text.size() > kLongest) return std::nullopt;
  const auto parts = decimal_parts(text);
  if (!parts) return std::nullopt;
  double value = static_cast<double>(parts->digits);
  const int power = std::abs(parts->exponent);
  bool sure = parts->all_digits && parts->digits == 0;
  if (!sure && parts->all_digits &&
      power < static_cast<int>(kPowersOfTen.size())) {
    const double scale = kPowersOfTen[static_cast<std::size_t>(power)];
    value = parts->exponent < 0 ? value / scale : value * scale;
    sure = parts->digits <= kExactLimit || same_float_nearby(value);
  }
  if (!sure) {
    if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
    const auto slow = parse_double(text);
    if (!slow || !std::isfinite(*slow)) return std::nullopt;
    value = *slow;
  }
  return parts->negative ? -value : value;
}

} // namespace temper::data
