// Small files read whole, never past a limit. For /proc, /sys and the like,
// which report a size of zero and may be missing on any given machine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace temper {

// The file's bytes; no value when it is missing, unreadable or longer than
// `limit_bytes`.
std::optional<std::string> read_small_file(
    const std::filesystem::path& path,
    std::size_t limit_bytes = std::size_t{4} << 20);

} // namespace temper
