#include "temper/train/calibrate/parity.h"

#include <algorithm>
#include <cmath>

#include "temper/graph/ir/elements.h"

namespace temper::train {
namespace {

// How much larger than float32's own error a setting's may be.
struct Allowance {
  double factor;
  double least; // relative
  double most;
};

// Rounding is chance, and one draw of it may be this much larger than another.
constexpr double kDraws = 10;

// Half precision rounds each result to fewer bits than float32's 24, which
// makes every rounding error larger by the same power of two, whatever the
// hardware; a single rounding is off by 2^-bits at most. Beyond a quarter of a
// gradient's length the network trains on noise.
Allowance half(int bits) {
  return {
      kDraws * std::ldexp(1, 24 - bits), kDraws * std::ldexp(1, -bits), 0.25};
}

Allowance allowance_of(config::Precision precision) {
  if (precision == config::Precision::bf16) return half(8);
  if (precision == config::Precision::fp16) return half(11);
  return {kDraws, 1e-4, 0.1};
}

std::vector<double> values_of(const graph::TensorData& tensor) {
  if (!graph::is_floating(tensor.dtype)) return {}; // counters
  return graph::elements_of(tensor);
}

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values)
    squares += value * value;
  return std::sqrt(squares);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares); // NaN stays one
}

// One thing to compare. Differences are relative to the length of the exact
// value; of one that is next to nothing, as the gradient of a bias before
// BatchNorm, to that of the others.
struct Item {
  std::string name;
  double own = 0; // the largest error of plain float32
  double off = 0; // the candidate's
};

void add_all(
    std::vector<Item>& items,
    const graph::Weights Computed::*part,
    const Computed& candidate,
    const ParityReference& reference) {
  const graph::Weights& exact = reference.exact.*part;
  double longest = 0;
  for (const auto& [name, tensor] : exact)
    longest = std::max(longest, norm(values_of(tensor)));
  for (const auto& [name, tensor] : exact) {
    const std::vector<double> truth = values_of(tensor);
    const double length = std::max({norm(truth), 1e-3 * longest, 1e-30});
    const auto error = [&, name = name](const Computed& computed) {
      const auto found = (computed.*part).find(name);
      return found == (computed.*part).end()
          ? HUGE_VAL
          : distance(values_of(found->second), truth) / length;
    };
    Item item{name};
    for (const Computed& plain : reference.plain)
      item.own = std::max(item.own, error(plain));
    item.off = error(candidate);
    items.push_back(item);
  }
}

Item eval_item(const Computed& candidate, const ParityReference& reference) {
  const double truth = reference.exact.eval_loss;
  const auto error = [&](const Computed& computed) {
    return std::abs(computed.eval_loss - truth) /
        std::max(std::abs(truth), 1e-30);
  };
  Item item{"the eval loss"};
  for (const Computed& plain : reference.plain)
    item.own = std::max(item.own, error(plain));
  item.off = error(candidate);
  return item;
}

std::vector<Item> items_of(
    const Computed& candidate,
    const ParityReference& reference) {
  std::vector<Item> items;
  add_all(items, &Computed::gradients, candidate, reference);
  add_all(items, &Computed::statistics, candidate, reference);
  items.push_back(eval_item(candidate, reference));
  return items;
}

} // namespace

double own_error(const Computed& plain, const Computed& exact) {
  ParityReference reference;
  reference.exact = exact;
  double worst = 0;
  for (const Item& item : items_of(plain, reference))
    worst = std::max(worst, item.off);
  return worst;
}

plan::Parity compare(
    const Computed& candidate,
    const ParityReference& reference,
    config::Precision precision) {
  const Allowance allowance = allowance_of(precision);
  const std::vector<Item> items = items_of(candidate, reference);
  // Where it jumps is chance too: what one layer shows, any may.
  double worst_own = reference.own;
  for (const Item& item : items)
    worst_own = std::max(worst_own, item.own);
  plan::Parity made;
  double worst = -1;
  for (const Item& item : items) {
    const double allowed = std::clamp(
        allowance.factor * worst_own, allowance.least, allowance.most);
    const double share =
        std::isfinite(item.off) ? item.off / allowed : HUGE_VAL;
    if (share <= worst) continue;
    worst = share;
    made.parameter = item.name;
    made.difference = item.off;
    made.allowed = allowed;
  }
  made.agrees = worst <= 1;
  return made;
}

} // namespace temper::train
