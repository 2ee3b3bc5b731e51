// A run on a time line: its journal in the trace-event JSON format, which
// Perfetto (ui.perfetto.dev) and chrome://tracing show. Spans for every session
// of the run, what it prepared, its epochs and validations, and the checkpoints
// beside them; a mark for whatever went wrong; speed, waiting and memory as
// curves. Only what the journal holds: nothing is measured here.
//
// An event is told when it has ended, with the seconds it took, so a span
// begins that long before its line. Clocks that were set meanwhile must not
// make spans overlap: one begins where the one before ended at the earliest,
// and its own seconds stand among its arguments.
//
// At most a few megabytes whatever the run: of more epochs, checkpoints, marks
// or points than kMostSpans, kMostMarks and kMostPoints every second, fourth,
// ... is kept, evenly, and the newest; how many there were is in the file.
#pragma once

#include <string>

#include "temper/journal/run_directory.h"

namespace temper::journal {

constexpr std::size_t kMostSpans = 4000; // of each kind
constexpr std::size_t kMostMarks = 2000;
constexpr std::size_t kMostPoints = 8000; // of each curve

// One JSON object. A journal without a run gives one without events.
std::string trace_json(const RunDirectory& directory);

// Writes it to artifacts/trace.json, and gives the path below the directory.
std::string write_trace(const RunDirectory& directory);

// The same unless the run's own end has left one, for callers that find a run
// that was killed.
void refresh_trace(const RunDirectory& directory);

} // namespace temper::journal
