// One node as the rule of what autograd keeps sees it: whether gradients flow
// through an argument, and a place for what is kept. The rules are LibTorch's
// on the CPU, found by asking PyTorch 1.13 through its hooks for saved tensors
// (reference/saved_tensors.py).
// Private to graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/storage_map.h"

namespace temper::graph {

struct Saved {
  std::vector<std::string> values; // by name; the memory they lie in stays
  std::int64_t extra_bytes = 0; // masks, indices, statistics, copies
};

class SavedContext : public NodeArguments {
 public:
  SavedContext(
      const Node& node,
      const Inferred& known,
      const StorageMap& places,
      const std::set<std::string>& with_gradient,
      bool fused_attention)
      : NodeArguments(node, known),
        known_(known),
        places_(places),
        with_gradient_(with_gradient),
        fused_attention_(fused_attention) {}

  bool fused_attention() const {
    return fused_attention_;
  }
  // Whether a gradient flows into that argument.
  bool wanted(const char* name) const;
  const Shape& result(std::size_t index = 0) const;

  void keep(const char* name);
  // The first tensor. In place it is gone afterwards: a copy is kept.
  void keep_input();
  void keep_result(std::size_t index = 0);
  void keep_bytes(std::int64_t bytes);
  // An operand of a product over batches of matrices: itself, or the copy that
  // was made to line its batches up.
  void keep_operand(const char* name, const Ints& batch);

  const Saved& saved() const {
    return saved_;
  }

 private:
  const Inferred& known_;
  const StorageMap& places_;
  const std::set<std::string>& with_gradient_;
  bool fused_attention_;
  Saved saved_;
};

} // namespace temper::graph
