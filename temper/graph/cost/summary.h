// A model at a glance, for one batch: every node with its cost and memory,
// grouped by module, and totals. Used by `temper model show`; the texts are
// made here so that they can be tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/graph/cost/cost.h"
#include "temper/graph/cost/liveness.h"

namespace temper::graph {

struct NamedShape {
  std::string name;
  Shape shape;
};

struct NodeRow {
  std::string name; // of its first result
  std::string op; // "conv2d"
  std::string module;
  std::string source;
  std::vector<NamedShape> results;
  Cost cost;
  std::int64_t parameters = 0; // those it is the first to read
  std::int64_t made_bytes = 0;
  std::int64_t saved_bytes = 0;
};

struct Summary {
  std::string name; // of the file or the zoo's model
  std::string producer;
  std::int64_t batch = 1;
  bool fixed_batch = false;
  std::vector<NamedShape> inputs;
  std::vector<NamedShape> outputs;
  std::vector<NodeRow> nodes;

  std::int64_t parameters = 0;
  std::int64_t trainable = 0;
  std::int64_t unused = 0; // parameters that no node reads
  std::int64_t parameter_bytes = 0;
  std::int64_t trainable_bytes = 0;
  std::int64_t buffers = 0; // tensors, constants among them
  std::int64_t buffer_bytes = 0;
  Cost cost;
  std::int64_t input_bytes = 0;
  std::int64_t activation_bytes = 0;
  std::int64_t saved_bytes = 0;
  Peak eval_peak;
  Peak train_peak;
};

Summary
summarize(const std::string& name, const Graph& graph, const Symbols& symbols);

// Nodes whose module begins with the same `depth` names, in the order in which
// the first of each runs. Nodes of the model itself have an empty path.
struct ModuleRow {
  std::string path;
  std::vector<std::string> ops; // "conv2d", "batch_norm", most telling first
  Shape output; // of its last node
  std::int64_t parameters = 0;
  Cost cost;
  std::int64_t made_bytes = 0;
  std::int64_t saved_bytes = 0;
};
std::vector<ModuleRow> by_module(const Summary& summary, int depth);
// The deepest level that still fits on a screen.
int readable_depth(const Summary& summary);

struct SummaryStyle {
  int width = 100;
  int depth = 0; // 0: readable_depth()
  bool nodes = false; // every node instead of every module
};
std::string to_text(const Summary& summary, const SummaryStyle& style);
std::string to_json(const Summary& summary, const SummaryStyle& style);

} // namespace temper::graph
