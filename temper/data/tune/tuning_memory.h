// The values that the autotuner settled on, kept per machine, data and pipeline
// in one small JSON file of the cache directory, so that the next run starts
// there. Another machine or other data have another key; of more than a hundred
// entries the oldest go. Losing or damaging the file costs nothing but the
// tuning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "temper/data/tune/autotune.h"

namespace temper::data {

struct TuningKey {
  std::string machine;
  std::string source; // its name
  std::uint64_t content = 0; // the source's fingerprint
  int batch = 0;
  std::uint64_t augment_hash = 0;
  std::uint64_t sample_bytes = 0; // in the batch

  std::string text() const;
};

// The file's place in a cache directory.
std::filesystem::path tuning_file(const std::filesystem::path& cache_directory);

// True if there was something to forget.
bool forget_tunings(const std::filesystem::path& file);

std::optional<Tuning> load_tuning(
    const std::filesystem::path& file,
    const TuningKey& key);

// A file that cannot be written is left at that.
void save_tuning(
    const std::filesystem::path& file,
    const TuningKey& key,
    Tuning tuning);

} // namespace temper::data
