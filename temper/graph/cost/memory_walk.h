// Counts bytes held while a walk over the graph takes and drops them, and
// remembers the most.
// Private to graph/cost.
#pragma once

#include "temper/graph/cost/liveness.h"

namespace temper::graph {

class MemoryWalk {
 public:
  explicit MemoryWalk(const StorageMap& places)
      : places_(places), holders_(places.storages.size(), 0) {}

  // Storage is there as long as somebody holds it. Parameters and buffers are
  // not counted.
  void hold(std::size_t storage) {
    if (holders_[storage]++ == 0) live_ += counted(storage);
  }
  void drop(std::size_t storage) {
    if (--holders_[storage] == 0) live_ -= counted(storage);
  }
  bool held(std::size_t storage) const {
    return holders_[storage] > 0;
  }
  void take(std::int64_t bytes) {
    live_ += bytes;
  }
  void give_back(std::int64_t bytes) {
    live_ -= bytes;
  }
  void note(std::size_t node, bool backward) {
    if (live_ > peak_.bytes) peak_ = {live_, node, backward};
  }

  std::int64_t live() const {
    return live_;
  }
  const Peak& peak() const {
    return peak_;
  }

 private:
  std::int64_t counted(std::size_t storage) const {
    return places_.storages[storage].activation
        ? places_.storages[storage].bytes
        : 0;
  }

  const StorageMap& places_;
  std::vector<int> holders_;
  std::int64_t live_ = 0;
  Peak peak_;
};

} // namespace temper::graph
