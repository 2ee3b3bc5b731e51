// The model that a run carries: its graph as it was trained, without weights,
// in RUN/model.graph. With the weights of a checkpoint it is the trained model,
// wherever the run's directory lies and whatever became of its data. No torch.
#pragma once

#include <optional>

#include "temper/graph/ir/program.h"
#include "temper/journal/run_directory.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {

// Written once, when a run begins or an older one goes on. A TorchScript file
// and a network of one's own in C++ have no graph: nothing is written then.
void keep_model(const RunModel& model, const journal::RunDirectory& run);

// The model with zeros for weights; no value when the run has none.
std::optional<graph::Program> kept_model(const journal::RunDirectory& run);

} // namespace temper::train
