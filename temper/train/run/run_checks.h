// Mistakes of a config that would end a run at its first step or its first
// epoch, found while there is no run directory yet. No torch.
// Private to train/run.
#pragma once

#include "temper/config/config.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {

// Error when the config does not go with the data or the model: a schedule
// longer than the run, weights for other classes, a text with characters that
// the model does not know, a metric that nothing measures.
void check_run(
    const config::Config& config,
    const RunData& data,
    const RunModel& model);

} // namespace temper::train
