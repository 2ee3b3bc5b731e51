// Which MLflow is at hand, told by its files: Python would take seconds.
#pragma once

#include "temper/base/environment.h"

namespace temper::track {

// The major version of the MLflow whose program comes first in PATH; 0: there
// is none, or its files do not say.
int installed_mlflow(const Environment& environment);

} // namespace temper::track
