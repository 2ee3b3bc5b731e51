// The gradients of values on their way back through the graph: made by the
// nodes that read a value, added up, and gone once the node that made it has
// used them.
// Private to graph/cost.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "temper/graph/cost/computed_steps.h"
#include "temper/graph/cost/memory_walk.h"

namespace temper::graph {

class GradientWalk {
 public:
  GradientWalk(
      const ComputedSteps& computed,
      const Inferred& known,
      const std::set<std::string>& with_gradient,
      const std::set<std::string>& parameters,
      const LivenessOptions& options);

  // The loss's gradient arrives.
  void begin(const std::string& value, MemoryWalk& memory);
  // The step's gradients of its results become those of its inputs. What the
  // step kept for this can go; then they are added to those that came before.
  void through(const ComputedStep& step, std::size_t index, MemoryWalk& memory);
  void add_up(const ComputedStep& step, std::size_t index, MemoryWalk& memory);

 private:
  std::size_t make(const std::string& value, MemoryWalk& memory);
  std::size_t gradient_of(
      const ComputedStep& step,
      const std::string& read,
      const std::vector<std::size_t>& arriving,
      MemoryWalk& memory);
  std::int64_t parameter_gradients(const std::vector<std::string>& reads) const;
  std::int64_t onednn_copies(const Node& node) const;
  std::int64_t copies_by_rule(const Node& node) const;
  std::int64_t copies(const Node& node, const MemoryWalk& memory) const;
  std::int64_t beside(const ComputedStep& step, const MemoryWalk& memory) const;
  std::int64_t new_gradients(const ComputedStep& step);
  void wait_for_others(const ComputedStep& step, MemoryWalk& memory);
  void release(std::size_t gradient, MemoryWalk& memory);

  struct Gradient {
    std::int64_t bytes = 0;
    int owners = 0;
  };

  const Inferred& known_;
  const std::set<std::string>& with_gradient_;
  const std::set<std::string>& parameters_;
  const LivenessOptions& options_;
  std::map<std::string, int> readers_; // of a value
  std::map<std::string, int> given_; // gradients of a parameter
  std::set<std::string> kept_; // parameters that have their gradient
  std::vector<Gradient> gradients_;
  std::map<std::string, std::size_t> of_value_;
  // Further gradients of values that have one.
  std::vector<std::pair<std::string, std::size_t>> second_;
  std::int64_t passing_ = 0; // parameters' new gradients
};

} // namespace temper::graph
