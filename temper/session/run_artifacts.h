// The files a run leaves for people when it is done: the confusion matrix and
// the curves as pictures, the list of its checkpoints, the model as MLflow
// loads it.
#pragma once

#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/plot/canvas.h"
#include "temper/train/run/run.h"

namespace temper::session {

// Writes them into the run's artifacts/ and gives their paths below the run.
// One that cannot be made is a warning: the run itself is done. `config` is the
// run's own, `request` what it was asked with.
std::vector<std::string> write_run_artifacts(
    const train::RunResult& result,
    const config::Config& config,
    const train::RunRequest& request);

// A row for each true class, darker the more samples are taken for a class.
plot::Drawing confusion_picture(
    const train::MetricSums& sums,
    const std::vector<std::string>& classes);

} // namespace temper::session
