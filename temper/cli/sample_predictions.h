// A few validation images with what the model takes them for.
#pragma once

#include <optional>

#include "temper/cli/trained_model.h"
#include "temper/data/image.h"

namespace temper::cli {

// Nothing when the data are no images of classes. `at_once`: samples that fit
// into memory; 0: as many as it takes.
std::optional<data::Image> predictions_picture(
    const RunModelAndData& trained,
    int at_once);

} // namespace temper::cli
