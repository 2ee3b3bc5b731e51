// Whether a setting computes what plain float32 on the CPU computes: gradients,
// statistics and the eval loss of one step, each within what float32 itself may
// be off, which float64 tells. Used by the calibration. No torch.
// Private to train/calibrate.
#pragma once

#include <string>
#include <vector>

#include "temper/config/choices.h"
#include "temper/graph/ir/weights.h"
#include "temper/plan/rig.h"

namespace temper::train {

// One step from the run's first weights.
struct Computed {
  graph::Weights gradients; // by parameter
  graph::Weights statistics; // buffers after the step
  double eval_loss = 0; // after it
};

// Where a rounded sum changes the sign of what a ReLU sees, a gradient jumps.
// Whether that happens is chance, so float32's own error is looked at several
// times: with inputs as they are and with inputs off by their last bit.
struct ParityReference {
  std::vector<Computed> plain; // contiguous float32 on the CPU
  Computed exact; // the inputs as they are, in float64
  double own = 0; // the largest error of those whose numbers are gone
};

// The largest error of a plain float32 step, relative.
double own_error(const Computed& plain, const Computed& exact);

plan::Parity compare(
    const Computed& candidate,
    const ParityReference& reference,
    config::Precision precision);

} // namespace temper::train
