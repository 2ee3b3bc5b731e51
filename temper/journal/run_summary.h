// A run in a few values, read from its journal: for `temper runs`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"

namespace temper::journal {

struct RunSummary {
  RunDirectory directory;
  // "done", "stopped", "stopped early", "failed"; "running" while a process
  // trains it; "unfinished" when the journal ends in the middle.
  std::string status;
  std::string why; // the reason why it failed
  std::string model;
  std::string data;
  std::string device;
  std::string best_metric;
  double best = 0; // NaN: none
  std::int64_t epochs = 0;
  std::int64_t updates = 0;
  std::int64_t total_updates = 0; // that the run is to make; 0: not known
  double loss = 0; // of the last step in the journal; NaN: none
  double seconds = 0; // trained, without the time between two sessions
  double samples_per_s = 0; // of the last epoch, or of the first one's steps
  double began_s = 0; // since 1970
  std::int64_t unreadable = 0; // lines of the journal, which are left out
  std::vector<Event> epoch_events;
  std::map<std::string, std::string> config; // "train.batch" -> "64"
};

// The keys of our own config.toml, each with its value as it stands there:
// "train.batch" -> "64".
std::map<std::string, std::string> config_keys(const std::string& toml);

// The summary of a run. Facts that the journal's first line has lost are taken
// from the files beside it.
RunSummary summarise(const RunDirectory& directory);

// The values of a metric over the epochs, as a line of eight heights.
std::string sparkline(const std::vector<double>& values);

} // namespace temper::journal
