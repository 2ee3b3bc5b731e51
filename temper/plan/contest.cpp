#include "temper/plan/contest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "temper/base/text.h"

namespace temper::plan {
namespace {

// Parts of the time by which trying and timing end; the rest is for comparing
// gradients.
constexpr double kQualifyEnd = 0.6;
constexpr double kRoundsEnd = 0.8;
// Comparing gradients takes about so many steps of the reference.
constexpr double kCheckSteps = 8;
// Factors above the best from which a setting is clearly slower: the fewer
// samples, the further away.
constexpr double kSlowerAtOnce = 2.0;
constexpr double kSlowerThanOne = 1.5;
constexpr double kSlowerThanMedian = 1.1;
constexpr std::size_t kSamplesToJudge = 3;
constexpr std::size_t kMostSamples = 9;
// Short steps are timed together: one alone is mostly noise.
constexpr double kSampleSeconds = 0.02;
constexpr int kMostSteps = 50;
// Within these, two settings count as equally fast.
constexpr double kLeastTie = 0.02;
constexpr double kMostTie = 0.04;

double median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// A CPU ends or throws: it is waited for. Left behind, it would only compete
// with the run.
double deadline_s(const Setting& setting, double patience_s) {
  constexpr double kADay = 86'400;
  return setting.device == "cpu" ? kADay : patience_s;
}

double steady_seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool is_tie(const Contender& a, const Contender& best) {
  const double margin =
      std::clamp(std::max(a.noise(), best.noise()), kLeastTie, kMostTie);
  return *a.median_s() <= *best.median_s() * (1 + margin);
}

} // namespace

// What a job hands back. Owned by the job too: it may end after nobody waits.
struct Contest::Result {
  std::shared_ptr<Rig> rig; // first, and so gone last: trials may need it
  std::optional<Verdict> out;
  std::string why;
  std::shared_ptr<Trial> trial; // the contender's; bodies must not copy it
  std::optional<double> seconds;
  std::optional<Parity> parity;
};

std::optional<double> Contender::median_s() const {
  if (samples_s.empty()) return std::nullopt;
  return median(samples_s);
}

double Contender::noise() const {
  if (samples_s.size() < kSamplesToJudge) return 0;
  const double middle = median(samples_s);
  std::vector<double> away;
  for (const double sample : samples_s)
    away.push_back(std::abs(sample - middle));
  return middle > 0 ? median(away) / middle : 0;
}

Contest::Contest(
    const Candidates& candidates,
    std::shared_ptr<Rig> rig,
    const CalibrateOptions& options)
    : rig_(std::move(rig)),
      options_(options),
      now_(options.now ? options.now : steady_seconds),
      fallback_(candidates.fallback) {
  started_s_ = now_();
  for (const Setting& setting : candidates.settings) {
    contenders_.emplace_back();
    contenders_.back().setting = setting;
  }
}

Contest::~Contest() {
  for (Contender& contender : contenders_)
    close(contender);
}

double Contest::spent_s() const {
  return now_() - started_s_;
}

bool Contest::stopped() const {
  return options_.stop && options_.stop();
}

void Contest::say(const std::string& what) const {
  if (options_.progress) options_.progress(what);
}

std::optional<double> Contest::best_s() const {
  std::optional<double> best;
  for (const Contender& each : contenders_)
    if (each.in_play() && (!best || *each.median_s() < *best))
      best = each.median_s();
  return best;
}

// How long a step may take. Before anything was timed, half the time for
// trying: it may just be a large model, and others may hang as well. Later, a
// setting that takes so much longer than the best is of no use anyway.
double Contest::patience_s() const {
  const double left = std::max(0.0, options_.seconds - spent_s());
  const auto best = best_s();
  if (!best)
    return std::max(0.0, options_.seconds * kQualifyEnd - spent_s()) / 2;
  return std::min(left, std::max(options_.seconds / 4, *best * 5));
}

// Runs `body` on the worker. False when the contender is out.
bool Contest::perform(
    Contender& contender,
    const Body& body,
    double patience_s) {
  const auto result = std::make_shared<Result>();
  result->rig = rig_;
  result->trial = contender.trial;
  const auto job = [result, body] {
    const auto out = [&](Verdict verdict, const std::string& why) {
      result->out = verdict;
      result->why = why;
    };
    try {
      body(*result);
    } catch (const NoMemory& error) {
      out(Verdict::no_memory, error.what());
    } catch (const std::bad_alloc&) {
      out(Verdict::no_memory, "out of memory");
    } catch (const std::exception& error) {
      out(Verdict::failed, error.what());
    } catch (...) {
      out(Verdict::failed, "threw something that is not an exception");
    }
    if (result->out) result->trial = nullptr;
  };
  if (!worker_.run(job, deadline_s(contender.setting, patience_s))) {
    contender.trial = nullptr; // the job has it
    contender.out = Verdict::hung;
    contender.why = cat(
        "did not come back within ", step_text(patience_s), "; left behind");
    hung_devices_.insert(contender.setting.device);
    return false;
  }
  if (result->out) {
    close(contender);
    contender.out = result->out;
    contender.why = result->why;
    return false;
  }
  contender.trial = result->trial;
  if (result->seconds) contender.samples_s.push_back(*result->seconds);
  if (!result->parity || result->parity->agrees) return true;
  close(contender);
  contender.out = Verdict::rejected;
  contender.why =
      cat(result->parity->parameter,
          " differs from the reference by ",
          result->parity->difference,
          ", allowed ",
          result->parity->allowed);
  return false;
}

// Trials are destroyed where they were made, on the worker.
void Contest::close(Contender& contender) {
  if (!contender.trial) return;
  auto job = [rig = rig_,
              held = std::exchange(contender.trial, nullptr)]() mutable {
    held = nullptr;
  };
  const double left = options_.seconds - spent_s();
  const double patience_s = std::max(left, options_.seconds / 20);
  if (!worker_.run(std::move(job), deadline_s(contender.setting, patience_s)))
    hung_devices_.insert(contender.setting.device);
}

bool Contest::close_others(const Contender& contender) {
  bool any = false;
  for (Contender& other : contenders_) {
    if (&other == &contender || !other.trial) continue;
    close(other);
    any = true;
  }
  return any;
}

// Open and warm: the first step allocates, compiles and plans.
bool Contest::open(Contender& contender) {
  if (contender.trial) return true;
  if (alone_) close_others(contender);
  const auto body = [setting = contender.setting](Result& result) {
    result.trial = result.rig->open(setting);
    result.trial->step();
  };
  return perform(contender, body, patience_s());
}

bool Contest::sample(Contender& contender) {
  const auto body = [steps = contender.steps, now = now_](Result& result) {
    const double before_s = now();
    for (int i = 0; i < steps; ++i)
      result.trial->step();
    result.seconds = (now() - before_s) / steps;
  };
  return perform(contender, body, patience_s());
}

void Contest::attempt(Contender& contender) {
  const double before_s = spent_s();
  if (!open(contender)) return;
  // Starting what cannot end in time would leave it behind for nothing.
  const double warm_s = spent_s() - before_s;
  if (spent_s() + warm_s > options_.seconds * kQualifyEnd && !best_s()) {
    slow_s_ = warm_s;
    close(contender);
    contender.out = Verdict::skipped;
    contender.why =
        cat("a step takes about ",
            step_text(warm_s),
            ": too long to be measured in ",
            seconds_text(options_.seconds));
    return;
  }
  if (!sample(contender)) return;
  const double first_s = contender.samples_s.back();
  if (first_s < kSampleSeconds && first_s > 0) {
    contender.steps = std::min(
        kMostSteps, static_cast<int>(std::ceil(kSampleSeconds / first_s)));
    contender.samples_s.clear();
    sample(contender);
  }
}

void Contest::try_one(Contender& contender) {
  const auto skip = [&](const std::string& why) {
    contender.out = Verdict::skipped;
    contender.why = why;
  };
  const std::string& device = contender.setting.device;
  if (stopped()) return skip("measuring was interrupted");
  if (hung_devices_.count(device) > 0)
    return skip(cat(device, " did not come back from another setting"));
  const double expected_s = 2 * best_s().value_or(slow_s_);
  if (spent_s() + expected_s > options_.seconds * kQualifyEnd)
    return skip("no time was left to try it");
  say(cat("measuring ", to_text(contender.setting)));
  attempt(contender);
  // Others keep memory while they are open: alone it may fit.
  if (contender.out == Verdict::no_memory && close_others(contender)) {
    alone_ = true;
    contender.out = std::nullopt;
    contender.samples_s.clear();
    attempt(contender);
  }
  drop_slower(kSlowerAtOnce);
}

// A run that is short even in the fallback needs no measuring.
bool Contest::run_is_short(const Contender& contender) {
  if (!options_.run_steps || !contender.in_play()) return false;
  const double run_s =
      *contender.median_s() * static_cast<double>(*options_.run_steps);
  const auto why = why_not_measure(run_s, options_.seconds);
  if (why && contender.setting == fallback_) too_short_ = *why;
  return why.has_value();
}

void Contest::qualify() {
  for (Contender& each : contenders_) {
    if (each.out || each.in_play()) continue; // the fallback, tried early
    try_one(each);
    if (!run_is_short(each)) continue;
    for (Contender& other : contenders_) {
      if (other.setting != fallback_ || other.out || other.in_play()) continue;
      try_one(other);
      run_is_short(other);
    }
    if (!too_short_.empty()) return;
  }
  drop_slower(kSlowerThanOne);
}

void Contest::drop_slower(double factor) {
  const auto best = best_s();
  for (Contender& each : contenders_) {
    if (!each.in_play() || *each.median_s() <= *best * factor) continue;
    each.dropped = true;
    close(each);
  }
}

void Contest::rounds() {
  if (alone_) return; // opening again and again would cost more than it tells
  double end_s = options_.seconds * kRoundsEnd;
  for (const Contender& each : contenders_)
    if (is_reference(each.setting) && !each.samples_s.empty())
      end_s =
          std::min(end_s, options_.seconds - kCheckSteps * *each.median_s());
  for (std::size_t round = 1; round < kMostSamples; ++round) {
    std::vector<Contender*> running;
    double round_s = 0;
    for (Contender& each : contenders_) {
      if (!each.in_play() || each.dropped || !each.trial) continue;
      if (hung_devices_.count(each.setting.device) > 0) continue;
      running.push_back(&each);
      round_s += *each.median_s() * each.steps;
    }
    const bool clear = running.size() < 2;
    if (clear || stopped() || spent_s() + round_s > end_s) return;
    say(
        cat("comparing ",
            plural(static_cast<std::int64_t>(running.size()), "setting")));
    for (Contender* each : running)
      if (hung_devices_.count(each->setting.device) == 0) sample(*each);
    if (round + 1 >= kSamplesToJudge) drop_slower(kSlowerThanMedian);
  }
}

bool Contest::agrees(Contender& contender) {
  const auto skip = [&](const std::string& why) {
    contender.out = Verdict::skipped;
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
  if (!open(contender)) return false;
  return perform(
      contender,
      [](Result& result) { result.parity = result.trial->parity(); },
      std::max(0.0, options_.seconds - spent_s()));
}

Contender* Contest::winner() {
  for (;;) {
    Contender* best = nullptr;
    for (Contender& each : contenders_)
      if (each.in_play() && (!best || *each.median_s() < *best->median_s()))
        best = &each;
    if (!best) return nullptr;
    Contender* pick = best;
    for (Contender& each : contenders_)
      if (each.in_play() && is_tie(each, *best) &&
          simpler(each.setting, pick->setting))
        pick = &each;
    if (is_reference(pick->setting) || agrees(*pick)) return pick;
  }
}

} // namespace temper::plan
