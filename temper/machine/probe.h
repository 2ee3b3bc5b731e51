// Reads what the machine is. Fast (milliseconds; the first call loads
// LibTorch's facts), never fails: what cannot be read stays empty.
#pragma once

#include <filesystem>

#include "temper/machine/machine.h"

namespace temper::machine {

// `run_directory` need not exist yet; the disk of its nearest existing parent
// is looked at.
Machine probe(const std::filesystem::path& run_directory = ".");

} // namespace temper::machine
