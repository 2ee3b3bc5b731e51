// The bytes of tensors that one step of training takes, from the graph alone:
// nothing is run. The forecast asks for several sizes and picks one. No torch.
// Private to train/forecast.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/graph/cost/liveness.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/ir/program.h"

namespace temper::train {

struct StepMemoryOptions {
  std::string task = "classification"; // as EngineFacts has it
  std::string loss = "cross_entropy";
  std::string device = "cpu";
  bool bytes = false; // images come as bytes and become floats
  bool channels_last = false; // images and filters, in the model
  bool fused = false; // temper's kernels compute what they can
  int threads = 2; // that compute
  std::string libtorch; // its version; empty: as the oldest
  // The bytes that convolutions take on the CPU; empty: by rule.
  graph::ConvolutionBytes convolution_bytes = {};
};

// Bytes of tensors by what they are for.
struct StepBytes {
  std::uint64_t parameters = 0; // and buffers
  std::uint64_t gradients = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t average = 0;
  std::uint64_t batch = 0; // as tensors of their own
  std::uint64_t activations = 0; // and gradients on their way

  std::uint64_t peak() const {
    return parameters + gradients + optimizer + average + batch + activations;
  }
};

class StepMemory {
 public:
  // The graph as the model came; it is looked at in training mode.
  StepMemory(
      const graph::Program& program,
      const config::Config& config,
      const StepMemoryOptions& options);

  // An update of `batch` samples, `at_once` of them at a time. The parts are
  // those of the moment at which the sum is largest.
  StepBytes at(int batch, int at_once) const;

  // The working memory of temper's kernels when `at_once` samples are computed
  // at a time, beside all tensors. Layers are run to find out: with fewer
  // samples where that would take long, for kernels cut what is large into
  // blocks whose size no longer grows.
  std::uint64_t kernel_bytes(int at_once) const;

 private:
  graph::LivenessOptions liveness_options(
      const graph::Inferred& known,
      int slice) const;
  std::uint64_t batch_bytes(const graph::Inferred& known, int batch, int slice)
      const;
  void add_grouping(
      const graph::Inferred& known,
      int slice,
      std::vector<std::int64_t>& scratch_bytes) const;

  graph::Graph graph_; // with the loss behind it
  std::vector<graph::Fusion> groups_; // that temper's kernels compute
  config::Config config_;
  StepMemoryOptions options_;
  std::string scores_; // the model's output; empty: none
  StepBytes kept_; // whatever the batch
  std::uint64_t largest_parameter_ = 0;
};

} // namespace temper::train
