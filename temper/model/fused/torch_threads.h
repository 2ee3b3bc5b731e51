// How many threads the kernels use.
#pragma once

namespace temper::model {

// The kernels use as many threads as LibTorch from here on. Called by whoever
// is about to use them; more than once does no harm.
void use_torch_threads();

} // namespace temper::model
