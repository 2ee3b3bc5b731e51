// The disk a run will be written to, which may be asked about before the run
// directory exists.
#pragma once

#include <filesystem>

#include "temper/machine/machine.h"

namespace temper::machine {

// The path itself, or its closest parent that exists; absolute.
std::filesystem::path nearest_existing(const std::filesystem::path& path);

// `filesystem` is left empty: each platform names it in its own way.
Disk disk_space(const std::filesystem::path& path);

} // namespace temper::machine
