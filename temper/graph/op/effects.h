// The effects of a node beside making its results: whose memory it changes or
// shares, whether it draws random numbers, whether it looks at the batch as a
// whole. All of it is read off the operator's page. Used by the passes, which
// must not move, drop or repeat such nodes blindly, by training, which takes
// steps back, and by the executor.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/op/operator.h"

namespace temper::graph {

// batch_norm under all of its names.
bool is_batch_norm(const Node& node);
// Normalises with the statistics of the batch at hand.
bool uses_batch_statistics(const Node& node);
bool draws_randomness(const Node& node);

// The values whose memory the node changes: what add_ adds to, the running
// statistics of a batch_norm that trains.
std::vector<std::string> values_written(const Node& node);

// Whether the results may lie in the memory of the first tensor that the node
// reads: those of views, of operators in place, and of whatever may hand its
// input on.
bool may_share_memory(const Node& node);
// With shapes at hand it is known: the strides of a result in that memory, or
// no value when the node makes memory of its own.
std::optional<Ints> shared_strides(
    const NodeArguments& node,
    const ViewOf& view);

// Which values may share memory: results of views and of in-place operators
// with what they were made of.
class AliasMap {
 public:
  explicit AliasMap(const Graph& graph);

  // One name for all values in the same memory: the value made first.
  std::string owner(const std::string& value) const;

 private:
  std::map<std::string, std::string> owners_;
};

// The buffers that a pass through the graph may change, by their real names
// (targets). What an operator that is not LibTorch's does nobody knows: all it
// reads counts. Who undoes a step keeps them, and who forecasts one counts
// them.
std::set<std::string> buffers_written(const Graph& graph);

} // namespace temper::graph
