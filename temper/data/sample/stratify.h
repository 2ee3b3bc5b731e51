// A split that gives both parts the same share of every class. Which part a
// sample belongs to takes one bit; its place in that part is found by counting
// bits, so that a million samples cost an eighth of a megabyte. Used by
// split.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "temper/base/random/permutation.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// A bit for each of `size` things, and where the n-th set or unset one is.
class BitSelect {
 public:
  explicit BitSelect(std::int64_t size);
  void set(std::int64_t index);
  void finish(); // once, after the last set()
  bool get(std::int64_t index) const;
  std::int64_t count() const { // of set ones
    return set_before_.back();
  }
  std::int64_t nth(std::int64_t n, bool set) const;

 private:
  static constexpr std::int64_t kBlock = 512; // bits between two counts

  std::int64_t size_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int64_t> set_before_; // each block; then all
};

// `val` samples for validation, chosen by `key`; each class gives its share of
// them, rounded so that they add up. No value when the source does not know
// its labels without reading, or there is nothing to divide.
std::optional<Splits> stratified(
    const std::shared_ptr<const IndexedSource>& whole,
    std::int64_t val,
    std::uint64_t key);

} // namespace temper::data
