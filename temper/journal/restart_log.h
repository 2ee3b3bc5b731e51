// Events that outlive a resume. A resume cuts the journal back to its
// checkpoint, and with it what was said about the end of the process before:
// that it hung, crashed or was killed. Such events go to restarts.jsonl first;
// every resume puts those into the journal that it does not have any more.
#pragma once

#include <functional>
#include <vector>

#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"

namespace temper::journal {

// Adds one, on disk when this returns; its `number` is made here. By the one
// process that has the run.
void set_aside(const RunDirectory& directory, Event event);

std::vector<Event> all_aside(const RunDirectory& directory);

// The events that are not in the journal, in their order.
std::vector<Event> missing_aside(const RunDirectory& directory);

} // namespace temper::journal
