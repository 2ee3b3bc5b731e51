#include "temper/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <locale>

namespace temper {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  const auto last = text.find_last_not_of(kBlank);
  return text.substr(first, last - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const auto end = text.find(separator, begin);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string join(
    const std::vector<std::string>& parts,
    std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(line);
      line.clear();
    }
    line += line.empty() ? word : cat(" ", word);
  }
  lines.push_back(line);
  return lines;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return cat(count_text(count), " ", noun, count == 1 ? "" : "s");
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  // Not from_chars: Apple's libc++ has it for integers only.
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())))
    return std::nullopt;
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double value = 0;
  in >> value;
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof())
    return std::nullopt;
  return value;
}

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3; at -= 3)
    digits.insert(at - 3, 1, ',');
  return digits;
}

std::string decimals(double value, int digits) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{
      "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return cat(bytes, " B");
  double value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : kUnits) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return cat(decimals(value, value < 100 ? 1 : 0), " ", unit);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return cat(decimals(seconds * 1e6, 0), " us");
  if (seconds < 1) return cat(decimals(seconds * 1e3, 1), " ms");
  if (seconds < 60) return cat(decimals(seconds, 1), " s");
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return cat(whole / 60, " min ", whole % 60, " s");
  return cat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string percent_text(double part, int digits) {
  return std::isnan(part) ? "-" : cat(decimals(part * 100, digits), " %");
}

std::string numbers_text(
    const std::vector<std::int64_t>& numbers,
    std::string_view separator) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text += separator;
    text += std::to_string(number);
  }
  return text;
}

std::string hex_text(std::uint64_t number) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4)
    text[i] = kDigits[number & 15];
  return text;
}

std::optional<Version> parse_version(std::string_view text) {
  std::array<int, 3> numbers{};
  std::size_t at = 0;
  for (int& number : numbers) {
    const char* begin = text.data() + at;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    if (error != std::errc{} || number < 0) {
      if (&number == &numbers.front()) return std::nullopt;
      number = 0;
      break;
    }
    at = static_cast<std::size_t>(stop - text.data());
    if (at >= text.size() || text[at] != '.') break;
    ++at;
  }
  return Version{numbers[0], numbers[1], numbers[2]};
}

} // namespace temper
