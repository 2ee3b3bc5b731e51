// The words of an enum, in files and on the command line, and back. One table
// of them stands beside each enum's to_text and from_text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "temper/base/error.h"

namespace temper {

template <class Enum>
struct Word {
  Enum value;
  const char* text;
};

template <class Enum, std::size_t N>
const char* enum_text(const Word<Enum> (&words)[N], Enum value) {
  for (const Word<Enum>& word : words)
    if (word.value == value) return word.text;
  throw Bug("an enum's value outside its table of words");
}

// No value if the text is none of the words.
template <class Enum, std::size_t N>
std::optional<Enum> enum_value(
    const Word<Enum> (&words)[N],
    std::string_view text) {
  for (const Word<Enum>& word : words)
    if (text == word.text) return word.value;
  return std::nullopt;
}

} // namespace temper
