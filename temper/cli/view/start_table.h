// The table at the start of a run: what is trained on what, how, and what was
// chosen for this machine. Also of --dry-run.
#pragma once

#include <string>

#include "temper/train/run/run.h"

namespace temper::cli {

// The word for the run's samples: "images" or "samples".
std::string noun_for(const train::RunOverview& overview);

// The table of a run's start, within `width` columns. `details` adds the
// reasons of every setting to those of settings that were measured.
std::string start_table(
    const train::RunOverview& overview,
    const config::Config& config,
    int width = 100,
    bool details = true);

// "  best      val_loss 0.31": a name and what is to say of it, wrapped within
// `width` columns with the name's column left free.
std::string
named_row(const std::string& name, const std::string& value, int width);

} // namespace temper::cli
