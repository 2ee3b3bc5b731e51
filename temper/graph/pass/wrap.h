// Steps that belong to a model but are computed outside it, put into its graph:
// raw pixels or numbers go in, probabilities or the user's own units come out.
// A pure pass, used by `temper export --with-preprocessing`. No torch.
//
// The steps are those of PyTorch's transforms in their order and rounding:
// ToTensor is permute and / 255, Normalize is - mean and / deviation.
#pragma once

#include <string>
#include <vector>

#include "temper/graph/pass/passes.h"

namespace temper::graph {

struct InputSteps {
  // Pixels as decoders give them, uint8 [N, H, W, C] from 0 to 255; they
  // become x / 255, channels first.
  bool pixels = false;
  // How a sample of floats lies: "HWC" and "HW" become "CHW". Empty: as the
  // model takes it.
  std::string order = {};
  // x -> (x - mean) / deviation along dimension 1 of the model's input, or one
  // pair for all. Empty: as they are.
  std::vector<double> mean = {};
  std::vector<double> deviation = {};
  // The values that NaN, a missing number, becomes, unscaled: one for each
  // entry of dimension 1. Empty: it stays.
  std::vector<double> fill = {};
};

enum class OutputStep {
  kNone,
  kSoftmax, // scores of classes to probabilities
  kSigmoid, // each score for itself
  kScale // y * deviation + mean
};

struct OutputSteps {
  OutputStep step = OutputStep::kNone;
  std::vector<double> mean = {}; // one for each column of the output
  std::vector<double> deviation = {};
};

// Error when the model has several inputs, or its shapes do not fit the steps.
// A model that ends in a softmax or sigmoid of its own keeps it.
Passed wrap_model(
    const Program& program,
    const InputSteps& before,
    const OutputSteps& after);

} // namespace temper::graph
