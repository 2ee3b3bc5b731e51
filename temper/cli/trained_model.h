// The model that a run trained, with the weights of a checkpoint. For `temper
// export`, and for the model that a run leaves behind.
#pragma once

#include <filesystem>
#include <string>

#include "temper/graph/program.h"
#include "temper/journal/run_directory.h"
#include "temper/train/run_data.h"

namespace temper::cli {

struct RunModelAndData {
  train::RunData data; // it says how many inputs and outputs there are
  graph::Program program;
};
// As the run's config describes it, with fresh weights. Error for a
// TorchScript file.
RunModelAndData model_of_run(const journal::RunDirectory& run);

// The best checkpoint, or the run itself where there is none yet: what
// model::read_weights takes.
std::filesystem::path best_weights(const journal::RunDirectory& run);

} // namespace temper::cli
