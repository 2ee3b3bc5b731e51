// Tar archives as the programs of the world write them, for tests.
#pragma once

#include <cstdio>
#include <string>

namespace temper::data {

// The contents with zeros up to the next block.
inline std::string tar_padded(std::string contents) {
  contents.resize((contents.size() + 511) / 512 * 512, '\0');
  return contents;
}

inline std::string octal(std::uint64_t value, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, value /= 8)
    *at = static_cast<char>('0' + value % 8);
  return text;
}

// Sets the sum of a header that was changed.
inline void tar_sum(std::string& header) {
  header.replace(148, 8, "        ");
  std::uint64_t sum = 0;
  for (const char c : header)
    sum += static_cast<unsigned char>(c);
  header.replace(148, 8, octal(sum, 6) + std::string("\0 ", 2));
}

inline std::string tar_header(
    const std::string& name,
    std::uint64_t bytes,
    char type = '0',
    const std::string& prefix = "") {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  header.replace(100, 8, std::string("0000644\0", 8));
  header.replace(124, 11, octal(bytes, 11));
  header[156] = type;
  header.replace(
      257,
      8,
      std::string(
          "ustar\0"
          "00",
          8));
  header.replace(345, prefix.size(), prefix);
  tar_sum(header);
  return header;
}

inline std::string tar_member(
    const std::string& name,
    const std::string& contents,
    char type = '0') {
  return tar_header(name, contents.size(), type) + tar_padded(contents);
}

inline std::string tar_end() {
  return std::string(1024, '\0');
}

} // namespace temper::data
