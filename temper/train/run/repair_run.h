// The repair of a run whose directory has lost files: its checkpoints and its
// journal hold copies of most. Each loss is told in one warning, with what it
// means. Used by run_resume and by whoever loads a run's model.
#pragma once

#include <optional>
#include <string>

#include "temper/checkpoint/checkpoint.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_directory.h"
#include "temper/plan/plan.h"

namespace temper::train {

// A config.toml that is gone is written again, as the checkpoint or else the
// journal has it. Error when neither does.
void mend_config(
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot);

// The name that the run's plan has for its model; empty: none. Runs of
// an earlier temper have no model.name in their config where nobody gave one,
// and what suits their data may be another model now.
std::string planned_model(const journal::RunDirectory& directory);

struct Settings {
  std::optional<plan::Plan> plan; // no value: nobody remembers them
  bool mended = false; // they are not from plan.json
};

// The settings without a plan.json that can be read: as the checkpoint's writer
// had them, or else as the journal has them.
Settings remaining_settings(
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot);

// Where the run's journal is to be cut to go on from `snapshot`, or from its
// beginning; 0 when it has no first line any more.
std::uint64_t end_in_journal(
    const journal::Journal& journal,
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot);

} // namespace temper::train
