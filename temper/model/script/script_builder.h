// Builds a TorchScript module out of a graph, node by node. Includes torch.
// Private to model/script.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::model {

// The modules of a model with their parameters and buffers, no code yet.
torch::jit::Module script_modules(const graph::Program& program);

// The code of `forward`: every node of the graph as an operator.
class ScriptBuilder {
 public:
  ScriptBuilder(
      const graph::Program& program,
      const torch::jit::Module& module);

  std::shared_ptr<torch::jit::Graph> build();

 private:
  using Value = torch::jit::Value;

  void add_inputs();
  void add_outputs();
  void add_node(const graph::Node& node);
  void add_operator(const graph::Node& node);
  bool add_number(const graph::Node& node);
  void name_results(const graph::Node& node, torch::jit::Node* made);

  // The attribute of that path, "features.0.weight", of the module itself.
  Value* attribute(const std::string& target);
  Value* value_named(const std::string& name) const;
  Value* argument_value(const graph::Argument& argument);
  Value* number_list(const std::vector<graph::IntOrName>& numbers);
  Value* tensor_list(
      const c10::TypePtr& element,
      const std::vector<Value*>& tensors);
  // The operator's own overload, or the one that takes a number where the
  // graph has one instead of a tensor.
  const c10::FunctionSchema& schema_for(const graph::Node& node) const;

  const graph::Program& program_;
  torch::jit::Module module_;
  std::shared_ptr<torch::jit::Graph> graph_;
  std::map<std::string, Value*> values_; // by name in the graph
  std::map<std::string, Value*> attributes_; // by path
};

} // namespace temper::model
