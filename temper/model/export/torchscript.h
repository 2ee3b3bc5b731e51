// A graph as a TorchScript file, which torch.jit.load runs in Python, LibTorch
// runs in C++ and Core ML's converter reads. The seam for `temper export`: no
// torch here, an honest refusal in a build without LibTorch.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "temper/graph/ir/program.h"

namespace temper::model {

// Parameters and buffers keep their real names, in modules as nested as these
// are; the batch stays free where it is free in the graph. What this LibTorch
// lacks is written as what it has. Durable or absent. Error, naming the node,
// for what TorchScript cannot say.
// `extra` are texts that torch.jit.load(path, _extra_files={name: ""}) gives
// back.
void write_torchscript(
    const graph::Program& program,
    const std::filesystem::path& path,
    const std::map<std::string, std::string>& extra = {});

} // namespace temper::model
