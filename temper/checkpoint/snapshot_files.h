// One snapshot on disk: its two files, written and read. Nothing is believed
// that a checksum does not confirm. Inside this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {

// Into a folder that is there and empty. Both files are synced and read back.
// Error when the disk does not take it, or does not give it back.
void write_snapshot(
    const Snapshot& snapshot,
    const std::filesystem::path& folder);

// Where the run's journal ended when it was made; nothing when that cannot be
// told. The tensors are not looked at.
std::optional<std::uint64_t> journal_offset_of(
    const std::filesystem::path& folder);

// Error, naming the folder and why it cannot be used.
Snapshot read_snapshot(const std::filesystem::path& folder);

} // namespace temper::checkpoint
