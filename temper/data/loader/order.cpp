#include "temper/data/loader/order.h"

#include "temper/base/error.h"

namespace temper::data {

Order::Order(
    std::int64_t size,
    bool shuffle,
    std::uint64_t seed,
    std::uint32_t epoch)
    : size_(size), key_(mix64(mix64(seed) ^ epoch)) {
  check(size > 0, "an order has something to order");
  if (shuffle) permutation_.emplace(static_cast<std::uint64_t>(size), key_);
}

std::int64_t Order::index(std::int64_t position) const {
  if (!permutation_) return position;
  return static_cast<std::int64_t>(
      (*permutation_)(static_cast<std::uint64_t>(position)));
}

std::int64_t Order::substitute(std::int64_t position, int attempt) const {
  const auto drawn = mix64(
      mix64(key_ ^ static_cast<std::uint64_t>(position)) +
      static_cast<std::uint64_t>(attempt));
  return static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(size_));
}

} // namespace temper::data
