// The values that the autotuner settled on, kept per machine and pipeline in
// one small JSON file of the cache directory, so that the next run starts
// there. Losing or damaging the file costs nothing but the tuning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "temper/data/tune/autotune.h"

namespace temper::data {

struct TuningKey {
  std::string machine;
  std::string source;
  int batch = 0;
  std::uint64_t augment_hash = 0;

  std::string text() const;
};

std::optional<Tuning> load_tuning(
    const std::filesystem::path& file,
    const TuningKey& key);

// A file that cannot be written is left at that.
void save_tuning(
    const std::filesystem::path& file,
    const TuningKey& key,
    Tuning tuning);

} // namespace temper::data
