// The folder of kept features: where it is, what is in it, and room for more.
// Bounded: the ones that were not used for the longest time go first.
// `temper data cache` lists and clears it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/data/feature/feature_file.h"

namespace temper::data {

// The folder of features below the cache directory; empty when there is none.
std::filesystem::path feature_folder(const Environment& environment);
// The file for features with that key.
std::filesystem::path feature_path(
    const std::filesystem::path& folder,
    std::uint64_t key);

struct KeptFeatures {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  double unused_s = 0; // since it was last used
  std::optional<FeatureAbout> about; // no value: not a file of features
};

// Most recently used first.
std::vector<KeptFeatures> list_features(const std::filesystem::path& folder);

// The count and size of files that clear_features() removed.
struct ClearedFeatures {
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
};
ClearedFeatures clear_features(const std::filesystem::path& folder);

// Makes the folder and removes old features until `bytes` more are within
// `most_bytes` (0: a quarter of what the disk has free). Why not, when that
// cannot be; then nothing was removed.
std::string make_room(
    const std::filesystem::path& folder,
    std::uint64_t bytes,
    std::uint64_t most_bytes);

// Notes that the file was used just now.
void mark_used(const std::filesystem::path& path);

} // namespace temper::data
