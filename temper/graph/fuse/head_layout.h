// Where the numbers of a view of [batch, tokens, features] come from: followed
// through reshape, permute, chunk and their kin, so that it is known whether
// three tensors are the queries, keys and values of one matrix with the heads
// side by side.
// Private to graph/fuse.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "temper/graph/fuse/graph_view.h"

namespace temper::graph {

struct HeadAxis {
  enum class Kind { kBatch, kTokens, kFeatures };
  Kind kind = Kind::kFeatures;
  Size size; // of features: fixed
  std::int64_t stride = 0; // features only: between neighbours

  friend bool operator==(const HeadAxis&, const HeadAxis&) = default;
};

struct HeadLayout {
  std::vector<HeadAxis> axes;
  std::int64_t first = 0; // the feature of the first number

  friend bool operator==(const HeadLayout&, const HeadLayout&) = default;
};

// [batch, tokens, features] and [batch, heads, tokens, width] whose heads are
// parts of the features from `first` on.
HeadLayout token_rows(const Size& batch, const Size& tokens, std::int64_t all);
HeadLayout heads_of_tokens(
    const Size& batch,
    const Size& tokens,
    std::int64_t heads,
    std::int64_t width,
    std::int64_t first);

// Views of one value, by name.
class HeadLayouts {
 public:
  HeadLayouts(const GraphView& view, const std::string& root, HeadLayout known)
      : view_(view) {
    known_[root] = std::move(known);
  }

  // Follows the node if it only shows known numbers in another order; then it
  // is among nodes().
  bool follow(std::size_t index);

  const HeadLayout* find(const std::string& value) const;
  const std::vector<std::size_t>& nodes() const {
    return nodes_;
  }

 private:
  std::vector<HeadLayout> results(std::size_t index, const HeadLayout& from)
      const;

  const GraphView& view_;
  std::map<std::string, HeadLayout> known_;
  std::vector<std::size_t> nodes_;
};

} // namespace temper::graph
