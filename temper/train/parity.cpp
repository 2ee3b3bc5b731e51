#include "temper/train/parity.h"

#include <algorithm>
#include <cmath>

#include "temper/graph/elements.h"

namespace temper::train {
namespace {

// How much larger than float32's own error a setting's may be. Half precision
// keeps fewer bits and may be off by as much more, within limits: beyond them
// the network trains on noise.
struct Allowance {
  double factor;
  double least; // relative
  double most;
};

Allowance allowance_of(const std::string& precision) {
  if (precision == "bf16") return {65536, 0.05, 0.25}; // 8 bits of 24
  if (precision == "fp16") return {8192, 0.01, 0.25}; // 11 bits of 24
  return {8, 1e-4, 0.25};
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

class Comparison {
 public:
  explicit Comparison(const Allowance& allowance) : allowance_(allowance) {}

  // Differences are relative to the length of the exact value; of one that is
  // next to nothing, as the gradient of a bias before BatchNorm, to `floor`.
  void see(
      const std::string& name,
      const std::vector<double>& candidate,
      const std::vector<double>& plain,
      const std::vector<double>& exact,
      double floor) {
    const double length = std::max({norm(exact), floor, 1e-30});
    const double own = distance(plain, exact) / length;
    const double allowed =
        std::clamp(allowance_.factor * own, allowance_.least, allowance_.most);
    const double off = distance(candidate, exact) / length;
    const double share = std::isfinite(off) ? off / allowed : HUGE_VAL;
    if (share < worst_) return;
    worst_ = share;
    made_.parameter = name;
    made_.difference = off;
    made_.allowed = allowed;
  }

  plan::Parity result() {
    made_.agrees = worst_ <= 1;
    return made_;
  }

 private:
  Allowance allowance_;
  double worst_ = 0;
  plan::Parity made_;
};

void compare_all(
    Comparison& comparison,
    const graph::Weights& candidate,
    const graph::Weights& plain,
    const graph::Weights& exact) {
  double longest = 0;
  for (const auto& [name, tensor] : exact)
    longest = std::max(longest, norm(values_of(tensor)));
  for (const auto& [name, tensor] : exact) {
    const auto ours = candidate.find(name);
    const auto theirs = plain.find(name);
    comparison.see(
        name,
        ours == candidate.end() ? std::vector<double>{}
                                : values_of(ours->second),
        theirs == plain.end() ? std::vector<double>{}
                              : values_of(theirs->second),
        values_of(tensor),
        1e-3 * longest);
  }
}

} // namespace

plan::Parity compare(
    const Computed& candidate,
    const ParityReference& reference,
    const std::string& precision) {
  const auto& [plain, exact] = reference;
  Comparison comparison(allowance_of(precision));
  compare_all(
      comparison, candidate.gradients, plain.gradients, exact.gradients);
  compare_all(
      comparison, candidate.statistics, plain.statistics, exact.statistics);
  comparison.see(
      "the eval loss",
      {candidate.eval_loss},
      {plain.eval_loss},
      {exact.eval_loss},
      0);
  return comparison.result();
}

} // namespace temper::train
