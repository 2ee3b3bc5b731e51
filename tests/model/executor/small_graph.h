// Graphs of a few nodes, for tests of what runs them.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "temper/graph/ir/program.h"
#include "temper/model/module/tensors.h"

namespace temper::model {

class SmallGraph {
 public:
  using Arguments = std::vector<std::pair<std::string, graph::Argument>>;

  // A size below zero is the batch.
  SmallGraph& input(
      const std::string& name,
      const std::vector<std::int64_t>& sizes,
      graph::DType dtype = graph::DType::kFloat32) {
    graph::TensorMeta meta;
    meta.dtype = dtype;
    for (const auto size : sizes)
      meta.sizes.push_back(
          size >= 0 ? graph::Size(size) : graph::linear_size("batch", 4, 1, 0));
    program_.graph.inputs.push_back(
        {graph::InputKind::kUser, name, name, true, true});
    program_.graph.tensors[name] = meta;
    program_.graph.symbols["batch"] = {2, 64};
    return *this;
  }

  SmallGraph& parameter(const std::string& name, const at::Tensor& value) {
    return weight(graph::InputKind::kParameter, name, value);
  }
  SmallGraph& buffer(const std::string& name, const at::Tensor& value) {
    return weight(graph::InputKind::kBuffer, name, value);
  }

  // The result has the name of the node; several are NAME_0, NAME_1, ...
  SmallGraph& node(
      const std::string& op,
      const std::string& name,
      const Arguments& arguments) {
    graph::Node node;
    node.op = op;
    for (const auto& [key, value] : arguments)
      node.inputs.push_back({key, value, false});
    node.outputs = {graph::TensorName{name}};
    node.module = module_;
    node.source = "net.py:7";
    node.recompute_segment = segment_;
    program_.graph.tensors[name] = {};
    program_.graph.nodes.push_back(std::move(node));
    last_ = name;
    return *this;
  }
  SmallGraph& number(
      const std::string& op,
      const std::string& name,
      const Arguments& arguments) {
    node(op, name, arguments);
    program_.graph.tensors.erase(name);
    program_.graph.numbers[name] = {};
    program_.graph.nodes.back().outputs = {graph::NumberName{name}};
    return *this;
  }
  SmallGraph& list(
      const std::string& op,
      const std::vector<std::string>& names,
      const Arguments& arguments) {
    node(op, names.front(), arguments);
    graph::TensorNames results;
    for (const auto& name : names) {
      results.push_back({name});
      program_.graph.tensors[name] = {};
    }
    program_.graph.nodes.back().outputs = {results};
    return *this;
  }
  // The module of the nodes that follow.
  SmallGraph& in_module(const std::string& path, int segment = -1) {
    module_ = path;
    segment_ = segment;
    return *this;
  }

  graph::Program& edit() {
    return program_;
  }

  // The last node's result is the output.
  graph::Program finish() const {
    graph::Program program = program_;
    if (program.graph.outputs.empty())
      program.graph.outputs.push_back(
          {graph::OutputKind::kUser, graph::TensorName{last_}, ""});
    return program;
  }

 private:
  SmallGraph& weight(
      graph::InputKind kind,
      const std::string& name,
      const at::Tensor& value) {
    graph::TensorMeta meta;
    meta.dtype = dtype_of(value.scalar_type());
    for (const auto size : value.sizes())
      meta.sizes.push_back(size);
    program_.graph.inputs.push_back({kind, name, name, true, true});
    program_.graph.tensors[name] = meta;
    program_.weights[name] = data_of(value);
    return *this;
  }

  graph::Program program_;
  std::string last_;
  std::string module_ = "block";
  int segment_ = -1;
};

inline graph::TensorName tensor(const std::string& name) {
  return {name};
}

} // namespace temper::model
