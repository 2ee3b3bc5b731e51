#include "temper/train/loop/recovery.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/loader/finite.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/libtorch/out_of_memory.h"

namespace temper::train {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace incidents = journal::incidents;
namespace reactions = journal::reactions;

constexpr std::size_t kLongestTrail = 1000; // steps nobody looked at

// The samples behind a loss that is not finite.
struct Culprits {
  std::vector<std::int64_t> samples; // by index
  std::string why; // a sentence; empty: all samples are sound by themselves
};

Culprits culprits_in(const data::HostBatch& batch, const Batches& from) {
  const auto found = data::not_finite_samples(batch);
  Culprits culprits;
  culprits.why = data::blame_text(
      batch, found, [&](std::int64_t index) { return from.describe(index); });
  for (const data::NotFiniteSample& each : found)
    if (batch.indices != nullptr)
      culprits.samples.push_back(batch.indices[each.slot]);
  return culprits;
}

journal::Event not_finite_event(
    const Progress& progress,
    const NotFinite& bad,
    const Culprits& culprits,
    const char* then) {
  std::vector<std::string> samples;
  for (const std::int64_t index :
       culprits.samples.empty() ? bad.samples : culprits.samples)
    samples.push_back(cat(index));
  journal::Event event{
      kinds::kIncident,
      0,
      {{fields::kWhat, std::string(incidents::kNotFinite)},
       {fields::kWhy, std::string(bad.what())},
       {fields::kEpoch, std::int64_t{progress.epoch}},
       {fields::kUpdate, progress.update},
       {fields::kSamples, journal::Json{cat("[", join(samples, ","), "]")}},
       {fields::kThen, std::string(then)}}};
  if (!culprits.why.empty())
    event.fields.push_back({fields::kCause, culprits.why});
  return event;
}

const char* name_of(Action action) {
  switch (action) {
    case Action::skip:
      return reactions::kSkip;
    case Action::roll_back:
      return reactions::kRollback;
    case Action::stop:
      return reactions::kStop;
  }
  return "";
}

} // namespace

Recovery::Recovery(RecoveryParts parts)
    : parts_(std::move(parts)),
      progress_(parts_.progress),
      guard_(parts_.config.guard, parts_.progress.guard),
      states_(parts_.config.guard),
      late_(parts_.engine.facts().reads_late) {}

void Recovery::save(graph::Weights& into) const {
  states_.save(into);
}

void Recovery::restore(const graph::Weights& from) {
  states_.restore(from);
}

void Recovery::arm(StepOrder& order) const {
  order.lr *= progress_.guard.lr_factor;
  order.loss_limit = guard_.loss_limit();
  if (guard_.watches_losses()) order.report = true;
}

void Recovery::known(std::int64_t update) {
  const bool begun = known_ >= 0;
  if (update <= known_) return;
  known_ = update;
  if (!begun) return; // what a checkpoint brought was told to its guard
  guard_.committed(
      update, guard_.watches_losses() ? parts_.engine.report().loss : 0);
}

void Recovery::committed(const StepOrder& order) {
  if (late_ && !order.report) {
    trail_.push_back({order.update, progress_.step, parts_.train.state()});
  } else {
    trail_.clear();
    known(progress_.update);
  }
  if (states_.due(progress_.update) || trail_.size() >= kLongestTrail) settle();
}

bool Recovery::settle() {
  try {
    progress_.epoch_sums.add(parts_.engine.take_training_sums());
  } catch (const NotFinite& bad) {
    not_finite(bad, nullptr);
    return false;
  }
  trail_.clear();
  known(progress_.update);
  keep_state();
  return true;
}

void Recovery::begin() {
  known(progress_.update);
  keep_state();
}

void Recovery::keep_state() {
  if (!states_.due(progress_.update)) return;
  try {
    EngineState state = parts_.engine.capture();
    state.training_sums = {}; // they are the epoch's, and stay so
    states_.keep(progress_.update, std::move(state));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    if (!libtorch::is_out_of_memory(error)) throw;
    if (states_.newest() == nullptr)
      throw Error(
          "[train] there is no memory for a copy of the state to go back to "
          "when an update is not finite.",
          "Set guard.nan = \"stop\", or take a smaller model.");
    log::warn(
        cat("there was no memory to keep the state after update ",
            progress_.update,
            ": a rollback goes to the one after update ",
            states_.newest()->update,
            "."));
  }
}

void Recovery::not_finite(
    const NotFinite& bad,
    const StepOrder* order,
    const data::HostBatch* batch) {
  const bool own =
      order != nullptr && (bad.update < 0 || bad.update == order->update);
  // Before the loader moves on.
  const Culprits culprits =
      own && batch != nullptr ? culprits_in(*batch, parts_.train) : Culprits{};
  if (own)
    ++progress_.step;
  else
    rewind(bad.update);
  known(progress_.update); // those before it were good
  const Action action = guard_.not_finite(progress_.update);
  parts_.tell(not_finite_event(progress_, bad, culprits, name_of(action)));
  if (action == Action::stop) {
    NotFinite stopped(
        cat(bad.what(),
            culprits.why.empty() ? "" : " ",
            culprits.why,
            " The run stops: ",
            guard_.why_stopped(),
            "."),
        culprits.why.empty()
            ? bad.hint()
            : "Mend the sample, or leave such ones out: data.bad = \"skip\".");
    stopped.update = progress_.update;
    stopped.samples = bad.samples;
    throw stopped;
  }
  if (action == Action::roll_back) {
    const std::int64_t to = roll_back();
    parts_.tell(
        {kinds::kRollback,
         0,
         {{fields::kEpoch, std::int64_t{progress_.epoch}},
          {fields::kFrom, progress_.guard.furthest},
          {fields::kTo, to},
          {fields::kLrFactor, progress_.guard.lr_factor}}});
  }
}

void Recovery::rewind(std::int64_t update) {
  const auto place = std::find_if(
      trail_.rbegin(), trail_.rend(), [&](const EarlierState& each) {
        return each.update == update;
      });
  check(place != trail_.rend(), "an update that nobody has seen was trained");
  progress_.update = place->update;
  progress_.step = place->step;
  parts_.train.resume(place->loader);
  trail_.clear();
}

std::int64_t Recovery::roll_back() {
  // Sums that were added up until now were trained, and count.
  progress_.epoch_sums.add(parts_.engine.take_training_sums());
  if (progress_.guard.rollbacks > 1) states_.drop_newest();
  const GoodStates::Kept* kept = states_.newest();
  check(kept != nullptr, "a state is kept before the first step");
  parts_.engine.restore(kept->state);
  progress_.update = kept->update;
  known_ = kept->update;
  return kept->update;
}

} // namespace temper::train
