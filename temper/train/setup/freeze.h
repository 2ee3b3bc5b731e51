// Which part of a model keeps its values: model.freeze as names. "backbone" is
// all but the last layer. Frozen BatchNorms keep their statistics too. No
// torch.
#pragma once

#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::train {

struct FrozenModel {
  graph::Program program;
  // Parameters and buffers of BatchNorms that stay in eval mode: the executor
  // is told, as switching to training would wake them.
  std::vector<std::string> still_norms;
  std::string report; // "froze 156 of 158 parameters (...)"
};

// Error, with the nearest names, when a pattern hits none, and when the
// backbone cannot be told from the head.
FrozenModel freeze_model(
    const graph::Program& program,
    const std::vector<std::string>& patterns);

// The program with everything trainable again.
graph::Program unfrozen(const graph::Program& program);

} // namespace temper::train
