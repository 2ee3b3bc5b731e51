// What a node does beside making its results: whose memory it changes, whether
// it draws random numbers, whether it looks at the batch as a whole. And which
// values may lie in the same memory. Used by the passes, which must not move,
// drop or repeat such nodes blindly, and by training, which takes steps back.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

// batch_norm under all of its names.
bool is_batch_norm(const Node& node);
// Normalises with the statistics of the batch at hand.
bool uses_batch_statistics(const Node& node);
bool draws_randomness(const Node& node);

// The values whose memory the node changes: what add_ adds to, the running
// statistics of a batch_norm that trains.
std::vector<std::string> values_written(const Node& node);

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
