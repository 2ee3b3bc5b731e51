#include "temper/plan/contest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <utility>

#include "temper/base/clock.h"
#include "temper/base/statistics.h"
#include "temper/base/text.h"
#include "temper/plan/compare.h"

namespace temper::plan {
namespace {

// Short steps are timed together: one alone is mostly noise.
constexpr double kSampleSeconds = 0.02;
constexpr int kMostSteps = 50;
// The part of the time that a step may take before it is absurd. The first one
// is spared where there is time for another: fresh memory may cost seconds.
constexpr double kAbsurd = 1.0 / 6;
// By when a second step of the first setting would have to end.
constexpr double kSecondStepEnd = 0.8;
// How much a single sample may be off.
constexpr double kSpreadOfOne = 0.25;

// A CPU ends or throws: it is waited for. Left behind, it would only compete
// with the run.
double deadline_s(const Setting& setting, double patience_s) {
  constexpr double kADay = 86'400;
  return setting.on_cpu() ? kADay : patience_s;
}

} // namespace

// The result that a job hands back. Owned by the job too: it may end after
// nobody waits.
struct Contest::Result {
  std::shared_ptr<Rig> rig; // first, and so gone last: trials may need it
  std::optional<TrialVerdict> out;
  std::string why;
  std::shared_ptr<Trial> trial; // the contender's; bodies must not copy it
  std::optional<double> first_s; // of the first step
  std::optional<double> seconds;
  std::optional<Parity> parity;
};

std::optional<double> Contender::median_s() const {
  if (samples_s.empty()) return std::nullopt;
  return median(samples_s);
}

double Contender::spread() const {
  return samples_s.size() < 2 ? kSpreadOfOne : spread_of(samples_s);
}

Contest::Contest(
    const Candidates& candidates,
    std::shared_ptr<Rig> rig,
    const CalibrateOptions& options)
    : rig_(std::move(rig)),
      options_(options),
      now_(options.now ? options.now : steady_seconds),
      standard_(candidates.standard()),
      worker_(options.wait) {
  started_s_ = now_();
  for (const Setting& setting : candidates.settings) {
    contenders_.emplace_back();
    contenders_.back().setting = setting;
  }
  look_at_load(); // as it was before
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
    const auto out = [&](TrialVerdict verdict, const std::string& why) {
      result->out = verdict;
      result->why = why;
    };
    try {
      body(*result);
    } catch (const NoMemory& error) {
      out(TrialVerdict::no_memory, error.what());
    } catch (const std::bad_alloc&) {
      out(TrialVerdict::no_memory, "out of memory");
    } catch (const std::exception& error) {
      out(TrialVerdict::failed, error.what());
    } catch (...) {
      out(TrialVerdict::failed, "threw something that is not an exception");
    }
    if (result->out) result->trial = nullptr;
  };
  if (!worker_.run(job, deadline_s(contender.setting, patience_s))) {
    contender.trial = nullptr; // the job has it
    contender.out = TrialVerdict::hung;
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
  if (result->first_s) contender.first_s = *result->first_s;
  if (result->seconds) contender.samples_s.push_back(*result->seconds);
  if (!result->parity || result->parity->agrees) return true;
  close(contender);
  contender.out = TrialVerdict::rejected;
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

// Not all that are in play may be open at once.
bool Contest::is_crowded() const {
  return static_cast<std::size_t>(rig_->most_open()) < contenders_.size();
}

// The slowest is closed for the next one; the default stays, to be compared
// with.
void Contest::make_room(const Contender& contender) {
  const int most = rig_->most_open();
  if (most <= 1) alone_ = true;
  if (alone_) close_others(contender);
  for (;;) {
    std::vector<Contender*> open;
    for (Contender& each : contenders_)
      if (&each != &contender && each.trial) open.push_back(&each);
    if (static_cast<int>(open.size()) < most) return;
    Contender* slowest = nullptr;
    for (Contender* each : open) {
      const bool spared = each->setting == standard_ && open.size() > 1;
      if (!spared &&
          (slowest == nullptr ||
           each->median_s().value_or(HUGE_VAL) >
               slowest->median_s().value_or(HUGE_VAL)))
        slowest = each;
    }
    close(*slowest);
  }
}

// Open and warm: the first step allocates, compiles and plans. Making the trial
// is no part of it: a rig may find out then how much it measures.
bool Contest::open(Contender& contender) {
  if (contender.trial) return true;
  make_room(contender);
  const auto body = [setting = contender.setting, now = now_](Result& result) {
    result.trial = result.rig->open(setting);
    const double before_s = now();
    result.trial->step();
    result.first_s = now() - before_s;
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

// Starting another step that cannot end in time would leave it behind for
// nothing.
bool Contest::no_time_for_another(const Contender& contender) const {
  const double end_s = spent_s() + contender.first_s;
  if (contender.rescue) return end_s > options_.seconds;
  return !best_s() && end_s > options_.seconds * kSecondStepEnd;
}

// One step is all that is known of it: too slow to be timed as others are.
void Contest::leave_rough(Contender& contender, double step_s) {
  slow_s_ = step_s;
  contender.rough = true;
  contender.samples_s = {step_s};
  close(contender);
}

void Contest::attempt(Contender& contender) {
  if (!open(contender)) return;
  if (no_time_for_another(contender))
    return leave_rough(contender, contender.first_s);
  const bool alone = !best_s();
  if (!sample(contender)) return;
  const double step_s = contender.samples_s.back();
  const bool many = contender.setting.on_cpu() && contender.setting.threads > 1;
  if (alone && many && !contender.rescue && step_s > options_.seconds * kAbsurd)
    return leave_rough(contender, step_s);
  if (step_s < kSampleSeconds && step_s > 0) {
    contender.steps = std::min(
        kMostSteps, static_cast<int>(std::ceil(kSampleSeconds / step_s)));
    contender.samples_s.clear();
    sample(contender);
  }
}

bool Contest::check_parity(Contender& contender) {
  return perform(
      contender,
      [](Result& result) { result.parity = result.trial->parity(); },
      std::max(0.0, options_.seconds - spent_s()));
}

// The better of two counts: a program that got in the way did so once.
void Contest::sample_again(Contender& contender) {
  contender.again = true;
  const double before_s = contender.samples_s.front();
  if (!sample(contender)) return;
  const double now_s = contender.samples_s.back();
  contender.samples_s.pop_back();
  contender.samples_s.front() = std::min(before_s, now_s);
}

void Contest::look_at_load() {
  const auto now = options_.load ? options_.load() : std::nullopt;
  if (!now) return;
  const auto rank = [](const machine::Load& load) {
    return std::pair(load.busy(), load.missing() + load.throttled);
  };
  if (!load_ || rank(*now) > rank(*load_)) load_ = now;
}

} // namespace temper::plan
