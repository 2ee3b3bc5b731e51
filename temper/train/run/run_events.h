// The events that a run writes into the journal at its beginning and its end
// (docs/journal.md), and plan.json.
// Private to train/run.
#pragma once

#include <string>

#include "temper/journal/event.h"
#include "temper/machine/system_watch.h"
#include "temper/train/run/run.h"

namespace temper::train {

std::string plan_json(const RunOverview& overview);
// The settings in such a text; Error when it has none.
plan::Plan settings_in(const std::string& plan_json);

// The facts that must be the same for a resumed run to be bit-identical.
std::string writer_json(const RunRequest& request, const RunOverview& overview);

// Whether a run that goes on from what `one` wrote ends with the same bits when
// `other` goes on with it: they are equal, but for the number of threads where
// that makes no difference.
bool writes_the_same_bits(const std::string& one, const std::string& other);

// `prepare_s`: what it took to open the data, build the model and measure.
journal::Event run_event(
    const std::string& name,
    const RunRequest& request,
    const RunOverview& overview,
    const std::string& writer,
    double prepare_s);
journal::Event resume_event(
    std::int64_t update,
    const std::string& writer,
    const std::string& origin,
    double prepare_s);
// No value when there is no reading.
std::optional<journal::Event> system_event(
    const std::optional<machine::SystemReading>& reading);
journal::Event note_event(const std::string& text, std::int64_t update);
// The end, with the confusion matrix and each class's accuracy where there are
// classes.
journal::Event end_event(const Outcome& outcome, const RunOverview& overview);

} // namespace temper::train
