// How the numbers of a checkpoint are spread, for TensorBoard.
#pragma once

#include <filesystem>
#include <vector>

#include "temper/graph/weights.h"
#include "temper/track/tracker.h"

namespace temper::cli {

// Of its weights, and of the running average of their gradients that the
// optimiser keeps (momentum): "weights/NAME", "gradients/NAME". Error when it
// cannot be read.
std::vector<track::Histogram> checkpoint_histograms(
    const std::filesystem::path& checkpoint);

// Thirty equal buckets between the smallest and the largest number; what is
// not finite is left out. Empty when there is nothing.
std::vector<track::Histogram::Bucket> buckets_of(
    const graph::TensorData& tensor);

} // namespace temper::cli
