// The text that `temper data cache` prints: the features kept on disk.
#pragma once

#include <filesystem>
#include <string>

namespace temper::cli {

std::string features_text(const std::filesystem::path& folder);

} // namespace temper::cli
