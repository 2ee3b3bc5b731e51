// The part of temper's own kernels in a run: what they compute, what is left to
// LibTorch and why, and whether the run's bits depend on the number of threads.
// Known from the graph, before anything is computed. No torch.
#pragma once

#include <string>
#include <vector>

#include "temper/plan/setting.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {

struct RunKernels {
  // "52 of 52 BatchNorm fused; 3 left to LibTorch: dilation"; empty: LibTorch
  // computes everything.
  std::string fused;
  // The run's bits are the same whatever the number of threads.
  bool any_threads = false;
  // Else everything in which numbers may be added up in an order that the
  // threads decide: "layer1.0.fc (matmul)", "the loss mse".
  std::vector<std::string> by_threads;
};

// The loss of a run as its task describes it.
struct RunLoss {
  std::string name; // "cross_entropy"
  bool any_threads = false; // its bits and its metrics' do not depend on them
};

RunKernels kernels_of_run(
    const config::Config& config,
    const RunModel& model,
    const plan::Setting& setting,
    const RunLoss& loss);

// "do not depend on threads", or "depend on threads: a, b, c and 3 more are
// LibTorch's".
std::string bits_text(const RunKernels& kernels);

} // namespace temper::train
