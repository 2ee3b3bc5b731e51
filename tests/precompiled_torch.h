// Compiled once for all tests that include torch, beside what the others
// share. torch::nn, optim and jit are not among them: each file includes the
// headers it needs, for torch/torch.h costs 10 s.
#pragma once

#include <ATen/ATen.h>

#include "tests/precompiled.h"
