// A network that can be trained, whatever it was made from: a graph, a
// TorchScript file or a C++ torch::nn module. One of the few headers that
// include torch; only the files of temper/CMakeLists.txt's torch_files and
// people's own train_step may.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::model {

struct NamedTensor {
  std::string name; // "features.0.0.weight"
  at::Tensor tensor; // shares the module's memory
  bool trainable = false;
};

class Module {
 public:
  virtual ~Module() = default;

  // The first result; of a network with several, the others are dropped.
  virtual at::Tensor forward(const std::vector<at::Tensor>& inputs) = 0;

  // The parameters in the model's own order. Frozen ones are there, not
  // trainable.
  virtual std::vector<NamedTensor> parameters() const = 0;
  // BatchNorm's statistics and the like; updated in place by forward().
  virtual std::vector<NamedTensor> buffers() const = 0;

  virtual void set_training(bool training) = 0;
  virtual bool training() const = 0;

  // Moves parameters and buffers, keeping what others hold of them valid only
  // through parameters() and buffers() asked again.
  virtual void to(const at::Device& device) = 0;
  virtual void to(at::ScalarType floating_type) = 0;

  // Around the forward passes of one update, in training: what moves once an
  // update moves in end_update(). An update that failed has no end.
  virtual void begin_update() {}
  virtual void end_update() {}

  // The graph that runs; null for opaque models: they run, but cannot be
  // forecast, split or folded.
  virtual const graph::Graph* graph() const {
    return nullptr;
  }
};

} // namespace temper::model
