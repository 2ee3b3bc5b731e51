// Getting bytes onto the disk for good. macOS needs more than fsync for that:
// its fsync leaves them in the drive's own cache.
#pragma once

#include <filesystem>

namespace temper {

bool sync_file(int descriptor);

// Syncs a directory, so that a rename in it survives. One that we may not read
// is none of our business, nor is a file system that cannot sync one; false
// when it could not be done, and nothing may rely on it.
bool sync_directory(const std::filesystem::path& directory);

} // namespace temper
