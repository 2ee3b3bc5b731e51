// Which sample comes at which position of an epoch: a pure function of (seed,
// epoch, position), in constant time and memory. Used by the loaders, packs and
// sheets of samples.
#pragma once

#include <cstdint>
#include <optional>

#include "temper/base/random/permutation.h"

namespace temper::data {

class Order {
 public:
  // An order of `size` > 0 samples: 0, 1, 2 and so on when not shuffled.
  Order(
      std::int64_t size,
      bool shuffle,
      std::uint64_t seed,
      std::uint32_t epoch);

  std::int64_t size() const {
    return size_;
  }
  std::int64_t index(std::int64_t position) const;
  // The sample that stands in for a bad one at `position`, for the attempt
  // 0, 1, 2, ...
  std::int64_t substitute(std::int64_t position, int attempt) const;

 private:
  std::int64_t size_;
  std::uint64_t key_;
  std::optional<Permutation> permutation_;
};

} // namespace temper::data
