// The point that a run goes on from: the newest good checkpoint, or its
// beginning when it had none yet, with the settings it was planned with and the
// changes that were asked for.
// Private to train/run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/checkpoint/checkpoint.h"
#include "temper/config/config.h"
#include "temper/config/load.h"
#include "temper/data/sample/schema.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_directory.h"
#include "temper/machine/machine.h"
#include "temper/plan/plan.h"

namespace temper::train {

struct ResumePoint {
  std::optional<checkpoint::Snapshot> snapshot; // no value: from the beginning
  config::Config was; // as it ran
  config::Config now; // with the changes
  std::optional<plan::Plan> settings; // no value: to be chosen anew
  bool new_settings = false; // not those that plan.json has
  // The meaning of the data to the model; null: lost, and made again.
  std::shared_ptr<const data::Schema> schema;
};

// Error when it cannot go on, or the changes would make it another run.
ResumePoint find_resume_point(
    const journal::RunDirectory& directory,
    const std::vector<config::Assignment>& changes,
    const machine::Machine& machine);

// Cuts off what the journal says after the checkpoint; from the beginning, all
// but its first line. False when it has not even that.
bool cut_journal(
    journal::Journal& journal,
    const journal::RunDirectory& directory,
    const ResumePoint& earlier);

// Says that bits may differ when `writer` is another than the checkpoint's.
void warn_of_other_writer(
    const ResumePoint& earlier,
    const std::string& writer);

} // namespace temper::train
