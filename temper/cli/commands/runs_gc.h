// Finding and removing what `temper runs gc` clears away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace temper::cli {

struct Removable {
  std::filesystem::path path;
  std::string why; // "failed", "an older checkpoint of a finished run"
  std::uint64_t bytes = 0;
};

// Finds below `directory` runs that failed, or were killed before their first
// checkpoint, and of finished runs all checkpoints but the best and the last.
// The youngest `keep` runs, and runs that may be under way, are left alone.
std::vector<Removable> find_removable(
    const std::filesystem::path& directory,
    int keep);

// Error, naming the first that cannot be removed.
void remove_found(const std::vector<Removable>& waste);

} // namespace temper::cli
