// What the governor of batch sizes is told about a run. No torch.
#pragma once

#include "temper/config/config.h"
#include "temper/memory/forecast.h"
#include "temper/memory/governor.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

// From what the config asks for and the engine is.
memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts);

// The same, beginning with what the forecast chose.
memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts,
    const memory::Forecast& forecast);

} // namespace temper::train
