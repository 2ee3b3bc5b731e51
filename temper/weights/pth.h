// PyTorch's own weights files (.pth, .pt by torch.save of a state dict): a zip
// of raw bytes and a pickle that says what they are. The pickle is read as
// data; nothing in it runs. No torch is needed. Used by whoever loads weights.
#pragma once

#include <filesystem>
#include <string>

#include "temper/graph/ir/weights.h"

namespace temper::weights {

// The tensors of the state dict, or of the one inside a training script's dict
// ({"state_dict": ...}, {"model": ...}): `wrapped_in` says which. Other values
// (epoch, optimizer) are left out. Error, with what to do in Python, when the
// file wants to run code or is of another kind.
graph::Weights read_pth(
    const std::filesystem::path& path,
    std::string* wrapped_in = nullptr);

} // namespace temper::weights
