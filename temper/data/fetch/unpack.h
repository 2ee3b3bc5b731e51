// Takes named files out of a .tar.gz. An archive is a stranger: only plain
// files that were asked for are written, each under its own name in the given
// folder, none larger than announced. Used by catalogue.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace temper::data {

struct ArchiveMember {
  std::string name; // in the archive: "cifar-10-batches-bin/test_batch.bin"
  std::uint64_t limit_bytes = 0;
};

// Writes each member to folder / name. Error when the archive is damaged, a
// member is missing, too large or not a plain file, or any name in the archive
// leads out of it; members already written stay, each of them whole.
// `progress` gets the bytes written so far, and cancels by throwing.
void unpack_tar_gz(
    const std::filesystem::path& archive,
    const std::filesystem::path& folder,
    const std::vector<ArchiveMember>& members,
    const std::function<void(std::uint64_t bytes)>& progress = nullptr);

} // namespace temper::data
