// The disk a run will be written to, which may be asked about before the run
// directory exists.
#pragma once

#include <filesystem>
#include <string>

#include "temper/machine/machine.h"

namespace temper::machine {

// Absolute. Not for people: it keeps "." and "..", as past a link ".." is
// another place.
std::filesystem::path full_path(const std::filesystem::path& path);
// The same for people to read, without "." and "..".
std::string shown_path(const std::filesystem::path& path);

// The path itself, or its closest parent that exists; absolute.
std::filesystem::path nearest_existing(const std::filesystem::path& path);

// `filesystem` is left empty: each platform names it in its own way.
Disk disk_space(const std::filesystem::path& path);

} // namespace temper::machine
