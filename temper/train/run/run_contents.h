// The contents of a run's data when it began, file by file, in data.jsonl of
// its directory: a resume that finds other data says which file changed. No
// torch.
// Private to train/run.
#pragma once

#include "temper/journal/run_directory.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {

// Reads the data, unless its sums are known from an earlier start.
void keep_contents(const journal::RunDirectory& directory, const RunData& data);

// Error, naming what changed, when the data is not what the run began with. A
// list that is lost leaves the judgement to the loader.
void check_contents(
    const journal::RunDirectory& directory,
    const RunData& data);

} // namespace temper::train
