// The order of the contest: whose turn it is, when it is clear, and who wins.
#include <algorithm>
#include <utility>

#include "temper/base/text.h"
#include "temper/plan/compare.h"
#include "temper/plan/contest.h"

namespace temper::plan {
namespace {

// The part of the time by which timing ends; the rest is for comparing
// gradients, which takes about so many steps of the reference.
constexpr double kRoundsEnd = 0.8;
constexpr double kCheckSteps = 8;
// By when a setting is tried because more threads take absurdly long.
constexpr double kRescueEnd = 0.9;
// Measuring may take this part of the run: it can gain as much.
constexpr double kWorthwhile = 0.2;
// Factors above the best from which a setting is clearly slower: by one sample,
// and by several.
constexpr double kSlowerAtOnce = 2.0;
constexpr double kSlowerThanMedian = 1.25;
constexpr std::size_t kLeastSamples = 5;
constexpr std::size_t kMostSamples = 25;
// A second look at what seems slow may take this part of the time.
constexpr double kCheapLook = 0.1;

double least_s(const Contender& contender) {
  return *std::min_element(
      contender.samples_s.begin(), contender.samples_s.end());
}

Comparison held_against(const Contender& one, const Contender& other) {
  return compare(one.samples_s, other.samples_s);
}

} // namespace

// The default first: the others have to beat it.
std::vector<Contender*> Contest::in_order() {
  std::vector<Contender*> order;
  for (Contender& each : contenders_)
    order.push_back(&each);
  std::stable_partition(order.begin(), order.end(), [&](const Contender* each) {
    return each->setting == standard_;
  });
  return order;
}

// The seconds that measuring may cost at most to pay in this run; no value: as
// much as plan.seconds allows, the run is long enough or of unknown length.
std::optional<double> Contest::worth_s() const {
  const auto best = best_s();
  if (!options_.run_steps || !best) return std::nullopt;
  return *best * static_cast<double>(*options_.run_steps) * kWorthwhile;
}

// One more costs about what the last one did, and the rounds that follow.
bool Contest::pays_to_try() const {
  const auto worth = worth_s();
  if (!worth) return true;
  const double rounds_s = kLeastSamples * best_s().value_or(0);
  return spent_s() - others_began_s_ + last_cost_s_ + rounds_s <= *worth;
}

void Contest::try_one(Contender& contender) {
  const auto skip = [&](const std::string& why) {
    contender.out = TrialVerdict::skipped;
    contender.why = why;
  };
  const std::string& device = contender.setting.device;
  if (stopped()) return skip("measuring was interrupted");
  if (hung_devices_.count(device) > 0)
    return skip(cat(device, " did not come back from another setting"));
  const bool in_time = contender.rescue
      ? spent_s() < options_.seconds * kRescueEnd
      : spent_s() + 2 * best_s().value_or(slow_s_) <=
          options_.seconds * kQualifyEnd;
  if (!in_time) return skip("no time was left to try it");
  say(cat("measuring ", to_text(contender.setting)));
  const double before_s = spent_s();
  attempt(contender);
  // Others keep memory while they are open: alone it may fit.
  if (contender.out == TrialVerdict::no_memory && close_others(contender)) {
    alone_ = true;
    contender.out = std::nullopt;
    contender.samples_s.clear();
    attempt(contender);
  }
  last_cost_s_ = spent_s() - before_s;
  drop_slower();
  look_at_load();
}

void Contest::qualify() {
  std::vector<Contender*> order = in_order();
  bool some_left_out = false;
  for (auto it = order.begin(); it != order.end(); ++it) {
    Contender& each = **it;
    if (!each.rescue && !pays_to_try()) {
      each.out = TrialVerdict::skipped;
      each.why = "the run is too short to measure it";
      some_left_out = true;
      continue;
    }
    try_one(each);
    if (it == order.begin()) others_began_s_ = spent_s();
    if (!each.rough || !each.setting.on_cpu()) continue;
    // Threads that wait for each other, on a machine that is busy.
    const auto fewest = std::min_element(
        it + 1, order.end(), [](const Contender* a, const Contender* b) {
          const auto rank = [](const Contender& of) {
            return std::pair(!of.setting.on_cpu(), of.setting.threads);
          };
          return rank(*a) < rank(*b);
        });
    if (fewest == order.end() || !(*fewest)->setting.on_cpu() ||
        (*fewest)->setting.threads >= each.setting.threads)
      continue;
    (*fewest)->rescue = true;
    std::rotate(it + 1, fewest, fewest + 1);
  }
  leave_out_rough();
  const auto tried =
      std::count_if(contenders_.begin(), contenders_.end(), [](const auto& c) {
        return c.out != TrialVerdict::skipped;
      });
  const Contender* best = fastest();
  too_short_ =
      some_left_out && tried == 1 && best && best->setting == standard_;
}

// A first step alone is a bound: it tells something beside a time that was
// taken well, and nothing without one.
void Contest::leave_out_rough() {
  const bool timed =
      std::any_of(contenders_.begin(), contenders_.end(), [](const auto& c) {
        return c.in_play() && !c.rough;
      });
  if (timed) return;
  for (Contender& each : contenders_) {
    if (!each.rough || each.out) continue;
    each.out = TrialVerdict::skipped;
    each.why =
        cat("a step takes about ",
            step_text(each.samples_s.front()),
            ": too long to be measured in ",
            seconds_text(options_.seconds));
    each.samples_s.clear();
  }
}

// By their best times: a stall makes one sample long, nothing makes one short.
void Contest::drop_slower() {
  std::optional<double> best;
  for (const Contender& each : contenders_)
    if (each.in_play() && (!best || least_s(each) < *best))
      best = least_s(each);
  for (Contender& each : contenders_) {
    if (!each.in_play() || each.dropped ||
        least_s(each) <= *best * kSlowerAtOnce)
      continue;
    const double look_s = least_s(each) * each.steps;
    if (each.trial && !each.again && !stopped() &&
        look_s < options_.seconds * kCheapLook) {
      sample_again(each);
      if (!each.in_play() || least_s(each) <= *best * kSlowerAtOnce) continue;
    }
    each.dropped = true;
    close(each);
  }
}

std::vector<Contender*> Contest::running() {
  std::vector<Contender*> found;
  for (Contender& each : contenders_)
    if (each.in_play() && !each.dropped && !each.rough && each.trial &&
        hung_devices_.count(each.setting.device) == 0)
      found.push_back(&each);
  return found;
}

double Contest::rounds_end_s() const {
  double end_s = options_.seconds * kRoundsEnd;
  for (const Contender& each : contenders_)
    if (is_reference(each.setting) && !each.samples_s.empty() && !each.rough)
      end_s =
          std::min(end_s, options_.seconds - kCheckSteps * *each.median_s());
  if (const auto worth = worth_s())
    end_s = std::min(end_s, others_began_s_ + *worth);
  return end_s;
}

bool Contest::settled(const std::vector<Contender*>& running) const {
  const auto* best = *std::min_element(
      running.begin(), running.end(), [](const auto* a, const auto* b) {
        return *a->median_s() < *b->median_s();
      });
  return std::all_of(running.begin(), running.end(), [&](const auto* each) {
    return each == best ||
        (each->samples_s.size() >= kLeastSamples &&
         held_against(*each, *best).settled());
  });
}

// Where not all may be open at once, those worth comparing are: the default and
// the fastest.
void Contest::open_fastest() {
  std::vector<Contender*> wanted;
  for (Contender* each : by_time())
    if (!each->dropped && !each->rough) wanted.push_back(each);
  std::stable_partition(wanted.begin(), wanted.end(), [&](const auto* each) {
    return each->setting == standard_;
  });
  const auto most = static_cast<std::size_t>(rig_->most_open());
  if (wanted.size() > most) wanted.resize(most);
  for (Contender& each : contenders_)
    if (std::find(wanted.begin(), wanted.end(), &each) == wanted.end())
      close(each);
  for (Contender* each : wanted)
    if (!stopped() && spent_s() + 2 * *each->median_s() <= rounds_end_s())
      open(*each);
}

void Contest::rounds() {
  if (alone_) return; // opening again and again would cost more than it tells
  if (is_crowded()) open_fastest();
  for (std::size_t round = 1; round < kMostSamples; ++round) {
    std::vector<Contender*> turn = running();
    if (turn.size() < 2 || settled(turn) || stopped()) return;
    double round_s = 0;
    for (const Contender* each : turn)
      round_s += *each->median_s() * each->steps;
    if (spent_s() + round_s > rounds_end_s()) return;
    say(
        cat("comparing ",
            plural(static_cast<std::int64_t>(turn.size()), "setting"),
            ", round ",
            round));
    // There and back: what changes steadily favours nobody.
    if (round % 2 == 0) std::reverse(turn.begin(), turn.end());
    for (Contender* each : turn)
      if (hung_devices_.count(each->setting.device) == 0) sample(*each);
    look_at_load();
    const Contender* best = fastest();
    for (Contender* each : turn) {
      if (!each->in_play() || each == best || !best) continue;
      const Comparison seen = held_against(*each, *best);
      if (each->samples_s.size() < kLeastSamples || !seen.slower() ||
          seen.ratio < kSlowerThanMedian)
        continue;
      each->dropped = true;
      close(*each);
    }
  }
}

bool Contest::agrees(Contender& contender) {
  const auto skip = [&](const std::string& why) {
    contender.out = TrialVerdict::skipped;
    contender.why = why;
    return false;
  };
  if (hung_devices_.count(contender.setting.device) > 0)
    return skip(cat(
        contender.setting.device, " did not come back from another setting"));
  if (spent_s() >= options_.seconds)
    return skip("no time was left to compare its gradients with the reference");
  if (stopped()) return skip("measuring was interrupted");
  say(cat("comparing gradients of ", to_text(contender.setting)));
  if (is_crowded()) close_others(contender);
  if (!open(contender)) return false;
  return check_parity(contender);
}

Contender* Contest::fastest() {
  Contender* best = nullptr;
  for (Contender& each : contenders_)
    if (each.in_play() && (!best || *each.median_s() < *best->median_s()))
      best = &each;
  return best;
}

// The default stays unless somebody is faster beyond the noise. Of those who
// are, the simplest that is as fast as the fastest.
Contender* Contest::best_choice() {
  Contender* best = fastest();
  if (!best || best->setting == standard_) return best;
  Contender* standard = nullptr;
  for (Contender& each : contenders_)
    if (each.in_play() && each.setting == standard_) standard = &each;
  if (standard && !held_against(*best, *standard).faster()) return standard;
  Contender* pick = best;
  for (Contender& each : contenders_) {
    if (!each.in_play() || held_against(each, *best).slower() ||
        !simpler(each.setting, pick->setting))
      continue;
    if (!standard || held_against(each, *standard).faster()) pick = &each;
  }
  return pick;
}

std::vector<Contender*> Contest::by_time() {
  std::vector<Contender*> order;
  for (Contender& each : contenders_)
    if (each.in_play()) order.push_back(&each);
  std::stable_sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return *a->median_s() < *b->median_s();
  });
  return order;
}

// Whoever was dropped for being slower than a setting that is wrong.
void Contest::bring_back() {
  if (alone_) return;
  int left = rig_->most_open();
  for (Contender* turn : by_time()) {
    Contender& each = *turn;
    if (left-- == 0) return;
    if (!each.in_play() || each.rough || stopped() ||
        spent_s() + 2 * *each.median_s() > rounds_end_s())
      continue;
    if (open(each)) {
      each.dropped = false;
      each.samples_s.resize(1); // pairs are of the same round
    }
  }
}

Contender* Contest::winner() {
  for (;;) {
    Contender* pick = best_choice();
    if (!pick || is_reference(pick->setting) || agrees(*pick)) return pick;
    bring_back();
    rounds();
  }
}

} // namespace temper::plan
