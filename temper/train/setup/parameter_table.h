// Where a model's parameters are and what training each of them costs: for
// `temper train --dry-run`. No torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/graph/ir/program.h"

namespace temper::train {

struct ParameterRow {
  std::string module; // "layer1", "features.0"
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
  std::uint64_t bytes = 0; // weights, gradients, the optimiser's, the average's
};

// Bytes that a parameter of float32 takes in training, or frozen.
std::uint64_t bytes_per_parameter(const config::Config& config, bool trained);

// One row a module, in the model's order: the outermost ones, and their parts
// where one holds nearly everything ("features.0" of MobileNetV2).
std::vector<ParameterRow> parameter_table(
    const graph::Graph& graph,
    const config::Config& config);

std::string to_text(
    const std::vector<ParameterRow>& table,
    const config::Config& config);

} // namespace temper::train
