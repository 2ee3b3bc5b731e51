// A new run that begins where another ended: `temper train --from RUN`.
#pragma once

#include <string>
#include <vector>

#include "temper/config/load.h"

namespace temper::session {

// The config of `run` (a path, a name, latest) with `assignments` over it, and
// its best weights to start from. The new run gets a name of its own. Error
// when there is no such run, or it has no checkpoint.
config::Config config_from(
    const std::string& run,
    const std::vector<config::Assignment>& assignments);

} // namespace temper::session
