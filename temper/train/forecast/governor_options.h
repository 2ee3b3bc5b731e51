// The options of the governor of batch sizes for a run. No torch.
#pragma once

#include "temper/config/config.h"
#include "temper/memory/forecast.h"
#include "temper/memory/governor.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

// The options that follow from the config and the engine.
memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts);

// The same, beginning with what the forecast chose.
memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts,
    const memory::Forecast& forecast);

} // namespace temper::train
