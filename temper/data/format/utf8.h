// Code points out of UTF-8 and back, strictly: no overlong forms, no
// surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace temper::data {

constexpr std::size_t kCodePoints = 0x110000;

// The code point at `at`, which moves behind it; no value when it is malformed.
std::optional<char32_t> next_code_point(
    std::span<const std::uint8_t> text,
    std::size_t& at);

std::string to_utf8(char32_t point);

bool is_utf8(std::string_view text);
// A text of Windows-1252, which is Latin-1 but for control characters: what
// Excel writes in the west of Europe. Its five unused bytes are Latin-1's.
std::string utf8_of_windows_1252(std::string_view text);
// The text itself where it is UTF-8, else taken for Windows-1252: journals,
// schemas and stores hold nothing but UTF-8.
std::string as_utf8(std::string_view text);

} // namespace temper::data
