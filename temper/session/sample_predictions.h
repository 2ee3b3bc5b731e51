// A few validation images with what the model takes them for.
#pragma once

#include <optional>

#include "temper/graph/ir/program.h"
#include "temper/plot/canvas.h"
#include "temper/train/setup/run_data.h"

namespace temper::session {

// A picture of predictions; no value when the data are no images of classes.
// `at_once`: samples that fit into memory; 0: as many as it takes.
std::optional<plot::Drawing> predictions_picture(
    const graph::Program& trained,
    const train::RunData& data,
    int at_once);

} // namespace temper::session
