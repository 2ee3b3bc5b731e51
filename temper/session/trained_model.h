// The model that a run trained, with the weights of a checkpoint. For `temper
// export`, and for the model that a run leaves behind.
#pragma once

#include <filesystem>
#include <string>

#include "temper/graph/ir/program.h"
#include "temper/journal/run_directory.h"

namespace temper::session {

// The model with zeros for weights. A run carries it; one of an earlier temper
// does not, and then its data and its model's file have to be there to build it
// again. Error for a TorchScript file.
graph::Program model_of_run(const journal::RunDirectory& run);

// Its schema.json; empty for a run of an earlier temper.
std::string schema_of_run(const journal::RunDirectory& run);

// The best checkpoint, or the run itself where there is none yet: what
// weights::read_weights takes.
std::filesystem::path best_weights(const journal::RunDirectory& run);

// The model with these weights.
graph::Program trained_model(const journal::RunDirectory& run);

} // namespace temper::session
