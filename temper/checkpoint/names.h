// The names of things in a folder of checkpoints.
// Private to checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace temper::checkpoint {

inline constexpr const char* kTensorsFile = "state.safetensors";
inline constexpr const char* kManifestFile = "state.json";

// A snapshot under its own name: "step-12".
std::string folder_name(std::int64_t update);
// The one that another of the same update is about to replace. As good as the
// other: a crash in between leaves only this.
std::string earlier_name(std::int64_t update);
// Being built, or being removed: no snapshot, and cleaned away.
std::string building_name(std::int64_t update);
std::string leaving_name(std::int64_t update);

// The update of folder_name(); no value for any other name.
std::optional<std::int64_t> update_of(const std::string& name);
// The update of earlier_name(); no value for any other name.
std::optional<std::int64_t> earlier_update_of(const std::string& name);
// Half-built, half-removed, or the beginning of a small file: what a crash
// leaves.
bool is_debris(const std::string& name);

// The names in a folder; none when it cannot be read.
std::vector<std::string> names_in(const std::filesystem::path& folder);

} // namespace temper::checkpoint
