// Weights of a file put into a model: which fit, which do not, which are
// missing, which are left over. Used by training, `temper export` and whoever
// starts from trained weights. No torch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::weights {

struct LoadOptions {
  // The classifier keeps the fresh weights it has: for another task.
  bool new_head = false;
  // Weights that the model has no place for are left out, not refused.
  bool ignore_left_over = false;
};

struct WeightsMisfit {
  std::string name;
  std::string has; // "[1000, 512] float32"
  std::string needs;
};

struct WeightsMatch {
  std::map<std::string, std::string> fits; // the model's name, the file's name
  std::vector<std::string> converted; // of those: half to single precision
  std::vector<WeightsMisfit> misfits;
  std::vector<std::string> missing;
  std::vector<std::string> left_over;
  std::vector<std::string> fresh; // the new head's
  // The prefix that was taken off the file's names: "module.".
  std::string stripped;

  bool complete(const LoadOptions& options) const;
};

// Parameters and the buffers of a state dict. BatchNorm's counters may be
// missing or left over: old files have none, and nothing depends on them.
WeightsMatch match_weights(
    const graph::Graph& graph,
    const graph::Weights& weights,
    const LoadOptions& options);

// The real names of the last layer's weight and bias.
std::vector<std::string> head_parameters(const graph::Graph& graph);

// "161 tensors fit, ..." and a table of what does not.
std::string match_report(const WeightsMatch& match);

struct Loaded {
  graph::Program program;
  std::string report; // "62 tensors of net.pth, names without \"module.\""
};

// The program with the file's weights. One Error with the table unless all fit.
// `file` is for sentences.
Loaded load_weights(
    const graph::Program& program,
    const graph::Weights& weights,
    const std::string& file,
    const LoadOptions& options = {});

// Widening takes float16 and bfloat16 to float32 and float64, float32 to
// float64. No value changes.
bool can_widen(graph::DType from, graph::DType to);
graph::TensorData widened(const graph::TensorData& tensor, graph::DType to);

} // namespace temper::weights
