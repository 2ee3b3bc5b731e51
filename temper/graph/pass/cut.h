// Where a graph can be cut in two at one value. Used by split_at, which makes
// the two programs, and by frozen_frontier, which looks for the last such place
// that training does not touch.
// Private to graph/pass.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/op/effects.h"

namespace temper::graph {

// The nodes that each node needs, by the values it reads and by the memory they
// lie in; made once for many cuts.
class Dependencies {
 public:
  explicit Dependencies(const Graph& graph);

  // The node that makes the value; -1 for inputs.
  int maker(const std::string& value) const;
  // The nodes a node needs: those that make what it reads, and those that
  // changed it in place before.
  const std::vector<int>& of(int node) const {
    return needs_[static_cast<std::size_t>(node)];
  }
  const AliasMap& memory() const {
    return memory_;
  }
  // The graph's input of that value; null when a node makes it.
  const Input* input(const std::string& value) const;
  // Nodes and outputs that read the value; and whether the one reader is an
  // output that puts it into a buffer.
  int readers(const std::string& value) const;
  bool only_stored(const std::string& value) const;

 private:
  AliasMap memory_;
  std::map<std::string, int> makers_;
  std::map<std::string, const Input*> inputs_; // of the graph, which stays
  std::map<std::string, int> readers_;
  std::set<std::string> stored_;
  std::vector<std::vector<int>> needs_;
};

struct Cut {
  std::string refusal; // why the graph cannot be cut here; empty: it can
  std::vector<bool> in_prefix; // by node
  // The second part's nodes. Numbers such as the batch size, which the first
  // part or the inputs gave, are read off the value.
  std::vector<Node> rest;
};

Cut cut_at(
    const Graph& graph,
    const Dependencies& dependencies,
    const std::string& value);

} // namespace temper::graph
