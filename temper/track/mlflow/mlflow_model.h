// The files that make a folder an MLflow model. mlflow.pyfunc.load_model runs
// its model.pt2 through a small loader that comes with it, or its TorchScript
// where PyTorch is too old for that; mlflow.pytorch.load_model takes the
// TorchScript. The command writes model.pt2 and data/model.pth, this the
// rest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/track/tracker.h"

namespace temper::track {

struct ModelFacts {
  std::vector<std::int64_t> input_shape; // -1: any
  std::vector<std::int64_t> output_shape;
  std::string input_type = "float32"; // as numpy calls it
  std::string output_type = "float32";
  std::string torch_version; // "1.13.1"
  bool torchscript = true; // there is such a file
  // The run's schema, JSON: how inputs are prepared and what outputs mean.
  // Empty: not known.
  std::string schema = {};
};

// Where the TorchScript file belongs in the folder.
std::filesystem::path torchscript_place(const std::filesystem::path& folder);

// Writes everything but the TorchScript file. Error when the disk does not take
// it.
void write_mlflow_model(
    const std::filesystem::path& folder,
    const ModelFacts& facts);

// The tag by which MLflow 2 lists a run's models; no value when the artifact is
// no model.
std::optional<Pair> model_history_tag(
    const Artifact& artifact,
    const std::string& run_id);

} // namespace temper::track
