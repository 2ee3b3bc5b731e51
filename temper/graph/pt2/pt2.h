// torch.export archives (.pt2): a graph in JSON and raw weights in a zip. The
// way in for people's own models, and the way back to Python. Used by the model
// room and by `temper model` and `temper export`.
//
// Reading runs no code: pickled parts are never opened, and every size is
// checked before memory is taken for it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "temper/graph/ir/program.h"

namespace temper::graph {

// Error, with what to do, for a file that is damaged, not an export, older than
// PyTorch 2.9, or has something temper does not know: then with the node's
// operator, module and source line.
//
// Names that share their values in Python (tied weights) share their bytes:
// their TensorData::bytes are the same pointer.
Program read_pt2(const std::filesystem::path& path);

// Texts by name that torch.export.load(path, extra_files={name: ""}) gives
// back.
using ExtraFiles = std::map<std::string, std::string>;

// Writes a file that torch.export.load takes: durable or absent, the same bytes
// for the same program. Names with the same pointer stay tied. Error when the
// program does not validate or the disk does not take it.
void write_pt2(
    const Program& program,
    const std::filesystem::path& path,
    const ExtraFiles& extra = {});

// The extra file of that name; no value when the archive has none.
std::optional<std::string> read_pt2_extra(
    const std::filesystem::path& path,
    const std::string& name);

// A model without its weights, for whoever keeps those elsewhere: the same
// archive, but parameters and lasting buffers have sizes and no bytes. Reading
// gives them as zeros; names that were tied still are.
void write_pt2_without_weights(
    const Program& program,
    const std::filesystem::path& path);
Program read_pt2_without_weights(const std::filesystem::path& path);

// The reason why a model takes one batch size only and how to export it for
// all; no value when the first size of its input is a symbol.
std::optional<std::string> fixed_batch_advice(const Graph& graph);

} // namespace temper::graph
