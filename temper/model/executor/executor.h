// A graph that runs on LibTorch: each node calls an operator, autograd comes
// with them. Made from a .pt2 file's or the zoo's program; trained by room
// train. Includes torch: see module.h.
//
// All operators and arguments are resolved when the module is made: what this
// LibTorch cannot run is refused then, and a step of training only calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"
#include "temper/model/executor/executor_arguments.h"
#include "temper/model/module/module.h"

namespace temper::model {

// A node about to run, or done. `again`: computed again for the backward pass.
struct NodeEvent {
  std::size_t index = 0; // in graph()->nodes
  const graph::Node& node;
  bool again = false;
};

// Called around every node: for tests of what runs when.
struct NodeHooks {
  std::function<void(const NodeEvent&)> before;
  std::function<void(const NodeEvent&, const std::vector<at::Tensor>& results)>
      after;
};

struct ExecutorOptions {
  // Kernels by operator name, for fused nodes ("temper.conv_bn_relu") or
  // instead of LibTorch's own.
  std::map<std::string, StepMaker> kernels;
  // Whether common operators are called directly or all through the boxed
  // dispatcher; the results are the same.
  bool direct = true;
  // Groups of nodes are computed by kernels of our own where these take them:
  // float32 on a CPU.
  bool fuse = false;
  // Names of BatchNorms' tensors: these keep and use their running statistics
  // in training too, being frozen.
  std::vector<std::string> still_norms;
  // BatchNorm's statistics in training are those of so many samples; 0: of all
  // that are computed at once.
  std::int64_t norm_group = 0;
};

struct CompiledGraph;

class GraphModule final : public Module {
 public:
  // The module starts in training mode, as torch modules do, on the CPU.
  // Parameters that share their bytes are one parameter.
  explicit GraphModule(
      const graph::Program& program,
      ExecutorOptions options = {});
  ~GraphModule() override;

  at::Tensor forward(const std::vector<at::Tensor>& inputs) override;
  std::vector<at::Tensor> forward_all(const std::vector<at::Tensor>& inputs);

  // Each tensor once, under its first name; buffers with those that are no part
  // of a state dict.
  std::vector<NamedTensor> parameters() const override;
  std::vector<NamedTensor> buffers() const override;

  void set_training(bool training) override;
  bool training() const override;
  void to(const at::Device& device) override;
  // Parameters and buffers of integers keep their type.
  void to(at::ScalarType floating_type) override;

  void begin_update() override;
  void end_update() override;

  // The graph as it runs now: the mode's own nodes.
  const graph::Graph* graph() const override;

  // A tensor by its real name, tied ones under each of theirs. Error when there
  // is none.
  at::Tensor tensor(const std::string& target) const;
  // The graph as it came, with the weights as they are now.
  graph::Program program() const;

  void set_hooks(NodeHooks hooks);

 private:
  std::vector<at::Tensor> forward_in_batches(
      const std::vector<at::Tensor>& inputs);

  struct Body;
  std::unique_ptr<Body> body_;
};

} // namespace temper::model
