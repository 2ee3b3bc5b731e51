// Getting bytes onto the disk for good. macOS needs more than fsync for that:
// its fsync leaves them in the drive's own cache.
#pragma once

#include <filesystem>

namespace temper {

bool sync_file(int descriptor);

// So that a rename in it survives. A directory that cannot be opened is none
// of our business, nor is a file system that cannot sync one; false when the
// disk failed.
bool sync_directory(const std::filesystem::path& directory);

} // namespace temper
