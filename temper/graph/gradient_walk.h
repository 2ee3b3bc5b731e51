// The gradients of values on their way back through the graph: made by the
// nodes that read a value, added up, and gone once the node that made it has
// used them. Private to liveness.
#pragma once

#include <map>
#include <set>
#include <string>

#include "temper/graph/memory_walk.h"

namespace temper::graph {

class GradientWalk {
 public:
  GradientWalk(
      const Inferred& known,
      const std::set<std::string>& with_gradient,
      const std::set<std::string>& parameters,
      bool keep_gradients,
      int threads)
      : known_(known),
        with_gradient_(with_gradient),
        parameters_(parameters),
        keep_gradients_(keep_gradients),
        threads_(threads) {}

  // The loss's gradient arrives.
  void begin(const std::string& value, MemoryWalk& memory);
  // The node's gradients of its results become those of its inputs.
  void through(const Node& node, std::size_t index, MemoryWalk& memory);

 private:
  std::size_t make(const std::string& value, MemoryWalk& memory);
  std::int64_t parameter_gradients(const Node& node) const;
  std::int64_t new_gradients(const Node& node);
  void release(std::size_t gradient, MemoryWalk& memory);

  struct Gradient {
    std::int64_t bytes = 0;
    int owners = 0;
  };

  const Inferred& known_;
  const std::set<std::string>& with_gradient_;
  const std::set<std::string>& parameters_;
  bool keep_gradients_;
  int threads_;
  std::set<std::string> kept_; // parameters that have their gradient
  std::vector<Gradient> gradients_;
  std::map<std::string, std::size_t> of_value_;
};

} // namespace temper::graph
