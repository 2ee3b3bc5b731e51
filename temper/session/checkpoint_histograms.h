// How the numbers of a checkpoint are spread, for TensorBoard.
#pragma once

#include <filesystem>
#include <vector>

#include "temper/track/tracker.h"

namespace temper::session {

// Histograms of its weights: "weights/NAME". Error when it cannot be read.
std::vector<track::Histogram> checkpoint_histograms(
    const std::filesystem::path& checkpoint);

} // namespace temper::session
