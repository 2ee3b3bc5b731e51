// The few shapes of text that /proc and /sys come in: lines, "key : value"
// fields, "MemTotal: 123 kB", CPU lists "0-3,8". Every reader takes what it
// gets: missing, cut short or binary text gives no value, never an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace temper::machine {

// Takes the first line off `rest`, without its newline.
std::string_view next_line(std::string_view& rest);

// Split at runs of blanks.
std::vector<std::string_view> words(std::string_view line);

// The value of the first line "key : value", trimmed.
std::optional<std::string_view> field(
    std::string_view text,
    std::string_view key);
// The same for "key: 123 kB", in bytes.
std::optional<std::uint64_t> kib_field(
    std::string_view text,
    std::string_view key);

// The whole text is a number that is not negative.
std::optional<std::uint64_t> parse_u64(std::string_view text);

// "0-3,8" -> 0 1 2 3 8. What is not a range of CPU numbers is left out.
std::vector<int> parse_cpu_list(std::string_view text);

// Text fit to show: no control characters, not endless, trimmed.
std::string clean(std::string_view text);

// A file of one line or one number. Missing: empty.
std::string read_line(const std::filesystem::path& path);
std::optional<std::uint64_t> read_number(const std::filesystem::path& path);

} // namespace temper::machine
