// The curves of a run as a picture: loss, what it is judged by, and the
// learning rate, over its epochs.
#pragma once

#include <vector>

#include "temper/journal/run_directory.h"
#include "temper/plot/chart.h"

namespace temper::session {

// The curves in the run's journal, read in bounded memory; empty before the
// first update is told.
std::vector<plot::Chart> run_curves(const journal::RunDirectory& run);

} // namespace temper::session
