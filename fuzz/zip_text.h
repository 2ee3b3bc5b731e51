// Small zip archives made in memory, for targets that read archives.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace temper::fuzz {

// Stored entries with right checksums, in this order.
std::string zip_of(
    const std::vector<std::pair<std::string, std::string>>& entries);

} // namespace temper::fuzz
