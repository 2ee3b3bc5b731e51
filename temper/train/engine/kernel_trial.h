// The working memory that temper's kernels hold once they have trained a
// network for some steps, found by running each of its layers once: what a
// kernel asks for follows from sizes, threads and the vector unit, and no
// second copy of its rules is to be kept. Used by the memory forecast. No torch
// here; absent.cpp answers without one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/fuse/fusion.h"
#include "temper/graph/infer/infer.h"

namespace temper::train {

struct KernelTrial {
  const std::vector<graph::Fusion>& groups; // in training mode
  const graph::Inferred& known; // sizes for as many samples as are tried
  const std::set<std::string>& constants; // values that get no gradient
  int threads = 1;
};

// Bytes of all threads together, those of earlier calls in this process among
// them; 0 where nothing can be run. The layers' own tensors are given back.
std::uint64_t kernel_bytes(const KernelTrial& trial);

} // namespace temper::train
