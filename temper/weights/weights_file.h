// Weights out of whatever holds them: safetensors, PyTorch's .pth, a .pt2
// export, a run. Used by training and `temper export`.
#pragma once

#include <filesystem>
#include <string>

#include "temper/graph/ir/weights.h"

namespace temper::weights {

struct WeightsFile {
  graph::Weights weights;
  std::string name; // for sentences: "net.pth (its state_dict)"
};

// Reads weights by what the file is, not by what it is called: only .pt2, which
// is a zip as .pth is, must be called so. A directory is a run or a checkpoint
// of one.
WeightsFile read_weights(const std::filesystem::path& path);

} // namespace temper::weights
