// The lines a run prints between two epochs: what went wrong, and what was done
// about it. From the journal's events, for the terminal.
#pragma once

#include <map>
#include <string>

#include "temper/journal/event.h"

namespace temper::cli {

// Something is as it should be again.
bool is_good_news(const journal::Event& event);

// A sentence or two; empty: nothing that needs to be said.
std::string note_text(const journal::Event& event);

// The first few of each kind, so that a run with a thousand bad batches stays
// readable; then that the journal has the rest.
class TrainNotes {
 public:
  std::string see(const journal::Event& event);

 private:
  std::map<std::string, int> told_; // by kind
};

} // namespace temper::cli
