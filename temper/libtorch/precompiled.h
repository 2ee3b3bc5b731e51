// Compiled once for all files that include torch: each of them would
// otherwise spend about 10 s on these headers. torch/torch.h is not among them:
// with all of torch::nn in it every file costs 10 s more, used or not.
#pragma once

#include <ATen/ATen.h>
