// One snapshot on disk: its two files, written and read. Nothing is believed
// that a checksum does not confirm.
// Private to checkpoint.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {

// Into a folder that is there and empty. Both files are synced and read back.
// Error when the disk does not take it, or does not give it back.
// `number`: its place among all that were saved in that folder.
void write_snapshot(
    const Snapshot& snapshot,
    std::uint64_t number,
    const std::filesystem::path& folder);

// Which of two was made later. Updates do not tell: a run that was rolled back
// counts them down. Nor does the journal alone, whose end may have been lost;
// but the oldest snapshots have nothing else.
struct Age {
  std::uint64_t number = 0;
  std::uint64_t journal_offset = 0;
  friend auto operator<=>(const Age&, const Age&) = default;
};
// The age of a snapshot; no value when it cannot be told. The tensors are not
// looked at.
std::optional<Age> age_of(const std::filesystem::path& folder);

// Error, naming the folder and why it cannot be used.
Snapshot read_snapshot(const std::filesystem::path& folder);

} // namespace temper::checkpoint
