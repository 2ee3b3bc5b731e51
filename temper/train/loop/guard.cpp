#include "temper/train/loop/guard.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "temper/base/statistics.h"
#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/train/forecast/state_copies.h"

namespace temper::train {
namespace {

constexpr std::string_view kPrefix = "good.";
constexpr std::size_t kWindow = 64; // committed losses
constexpr std::size_t kEnough = 16; // to judge by
constexpr std::int64_t kMostRollbacks = 2; // without getting further
// The deviation of normally distributed numbers is that many times the median
// distance from the median.
constexpr double kDeviation = 1.4826;

} // namespace

Guard::Guard(const config::Guard& options, GuardState& state)
    : options_(options),
      policy_(config::nan_policy_of(options)),
      state_(state) {}

bool Guard::watches_losses() const {
  return options_.loss_spike > 0;
}

// A median does not move because of the few outliers it is to find.
double Guard::loss_limit() const {
  if (!watches_losses() || state_.losses.size() < kEnough)
    return std::numeric_limits<double>::infinity();
  const double middle = upper_median(state_.losses);
  std::vector<double> distances;
  for (const double loss : state_.losses)
    distances.push_back(std::fabs(loss - middle));
  // Losses that are all the same say nothing about how they vary.
  const double deviation = std::max(
      kDeviation * upper_median(std::move(distances)),
      0.01 * std::fabs(middle));
  return middle + options_.loss_spike * deviation;
}

Action Guard::not_finite(std::int64_t update) {
  ++state_.in_a_row;
  if (policy_ == config::NanPolicy::stop) return Action::stop;
  if (policy_ == config::NanPolicy::skip && state_.in_a_row < options_.patience)
    return Action::skip;
  if (options_.rollback == 0 || state_.rollbacks >= kMostRollbacks)
    return Action::stop;
  state_.furthest =
      state_.rollbacks == 0 ? update : std::max(state_.furthest, update);
  if (++state_.rollbacks > 1) state_.lr_factor *= options_.lr_cut;
  state_.in_a_row = 0;
  // Those of the state that is left behind.
  state_.losses.clear();
  return Action::roll_back;
}

void Guard::committed(std::int64_t update, double loss) {
  state_.in_a_row = 0;
  if (update > state_.furthest) state_.rollbacks = 0;
  if (!watches_losses()) return;
  if (state_.losses.size() == kWindow)
    state_.losses.erase(state_.losses.begin());
  state_.losses.push_back(loss);
}

std::string Guard::why_stopped() const {
  if (policy_ == config::NanPolicy::stop) return "guard.nan is \"stop\"";
  if (options_.rollback == 0) return "guard.rollback is 0";
  return cat(
      "the run went back ",
      plural(state_.rollbacks, "time"),
      " and failed again before it got beyond update ",
      state_.furthest);
}

GoodStates::GoodStates(const config::Guard& options)
    : saved_(
          config::nan_policy_of(options) == config::NanPolicy::rollback ||
          options.loss_spike > 0),
      every_(options.rollback_every),
      most_(good_states(options)) {}

bool GoodStates::due(std::int64_t update) const {
  if (most_ == 0) return false;
  if (states_.empty()) return true;
  return update % every_ == 0 && update != states_.back().update;
}

void GoodStates::keep(std::int64_t update, EngineState state) {
  if (states_.size() == most_) states_.erase(states_.begin());
  states_.push_back({update, std::move(state)});
}

const GoodStates::Kept* GoodStates::newest() const {
  return states_.empty() ? nullptr : &states_.back();
}

void GoodStates::drop_newest() {
  if (states_.size() > 1) states_.pop_back();
}

void GoodStates::save(graph::Weights& into) const {
  if (!saved_) return;
  for (const Kept& kept : states_)
    for (const auto& [name, tensor] : kept.state.tensors)
      into[cat(kPrefix, kept.update, ".", name)] = tensor;
}

void GoodStates::restore(const graph::Weights& from) {
  std::map<std::int64_t, EngineState> found;
  for (const auto& [name, tensor] : from) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string rest = name.substr(kPrefix.size());
    const auto dot = rest.find('.');
    const auto update = parse_int(rest.substr(0, dot));
    if (dot != std::string::npos && update)
      found[*update].tensors[rest.substr(dot + 1)] = tensor;
  }
  states_.clear();
  for (auto& [update, state] : found)
    if (most_ > 0) keep(update, std::move(state));
}

} // namespace temper::train
