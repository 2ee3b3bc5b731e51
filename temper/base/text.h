// Text the way temper writes it: joining, splitting, strict number parsing,
// and quantities with units a person reads. Used by every room.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace temper {

// cat("found ", 3, " files") -> "found 3 files".
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string_view trim(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
std::string join(
    const std::vector<std::string>& parts,
    std::string_view separator);
// Lines of at most `width` columns, broken between words; a longer word keeps
// its line to itself.
std::vector<std::string> wrap(std::string_view text, std::size_t width);
bool contains(std::string_view text, std::string_view part);
std::string lower(std::string_view text);
// '0' to '9' and no other script's digits, whatever the locale.
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Blanks behind the text up to `width` columns; a longer text stays as it is.
std::string padded(std::string text, std::size_t width);

// "1 file", "3 files": a count with its noun, plural by adding s.
std::string plural(std::int64_t count, std::string_view noun);

// The whole text must be the number; nothing before or after it.
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

// 10240 -> "10,240"
std::string count_text(std::int64_t count);
// 25769803776 -> "24.0 GiB"; binary units, as memory comes in them.
std::string bytes_text(std::uint64_t bytes);
// 0.0031 -> "3.1 ms", 75 -> "1 min 15 s"
std::string seconds_text(double seconds);
// decimals(3.14159, 2) -> "3.14"
std::string decimals(double value, int digits);
// percent_text(0.925, 1) -> "92.5 %"; "-" for what is not a number.
std::string percent_text(double part, int digits);
// numbers_text({3, 32, 32}, " x ") -> "3 x 32 x 32"
std::string numbers_text(
    const std::vector<std::int64_t>& numbers,
    std::string_view separator);
// 255 -> "00000000000000ff": always 16 digits.
std::string hex_text(std::uint64_t number);

// The version numbers at the front of "2.14.0+cpu": {2, 14, 0}. Missing parts
// are 0; text without a leading number gives no value.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const Version&) const = default;
};
std::optional<Version> parse_version(std::string_view text);

} // namespace temper
