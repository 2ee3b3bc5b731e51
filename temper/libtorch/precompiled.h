// Compiled once for all files that include torch: each of them would
// otherwise spend about 20 s on these headers.
#pragma once

#include <ATen/ATen.h>
#include <torch/torch.h>
