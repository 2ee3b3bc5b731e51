// A graph with the questions that patterns ask: who reads a value, may a group
// of nodes be computed at the place of its last one.
// Private to graph/fuse.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/fuse/fusion.h"
#include "temper/graph/op/effects.h"

namespace temper::graph {

class GraphView {
 public:
  explicit GraphView(const Graph& graph, const FusionOptions& options = {});

  const Graph& graph() const {
    return graph_;
  }
  const FusionOptions& options() const {
    return options_;
  }
  const Node& node(std::size_t index) const {
    return graph_.nodes[index];
  }
  // The name without its overload and underscore: "relu", "conv2d".
  std::string name(std::size_t index) const;

  // The only node that reads the value; no value when several do, or the graph
  // returns it, or nobody does.
  std::optional<std::size_t> only_reader(const std::string& value) const;
  // The node that makes the value; no value for inputs.
  std::optional<std::size_t> maker(const std::string& value) const;
  // The node's first result, which is a tensor; empty if it is not.
  std::string result(std::size_t index) const;

  bool taken(std::size_t index) const {
    return taken_.count(index) > 0;
  }
  void take(const Fusion& fusion) {
    taken_.insert(fusion.nodes.begin(), fusion.nodes.end());
  }

  // Whether the nodes may all run where the last of them stands: they are of
  // one segment, free, and nobody writes to what they read in between.
  bool can_wait(const Fusion& fusion) const;

  // Whether nobody outside of the group reads what its nodes make, but for its
  // output.
  bool is_closed(const Fusion& fusion) const;

  // Images in float32 with the usual four dimensions.
  bool is_image(const std::string& value) const;
  bool is_float(const std::string& value) const;
  std::size_t rank(const std::string& value) const;

 private:
  const Graph& graph_;
  FusionOptions options_;
  AliasMap memory_;
  std::map<std::string, std::vector<std::size_t>> readers_;
  std::set<std::string> returned_;
  std::map<std::string, std::size_t> makers_;
  std::set<std::size_t> taken_;
};

} // namespace temper::graph
