// Text that must not be longer than so many bytes.
#pragma once

#include <string_view>

namespace temper {

// Its first bytes, at most so many. It is cut between two letters: a byte that
// continues a letter of UTF-8 stays with its first one.
inline std::string_view cut_text(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end);
}

} // namespace temper
