// How long each value lives, and what that adds up to: the most memory that
// activations take at once, in a forward pass alone and with the backward pass
// behind it. Nothing is run. Used by `temper model show`, the memory forecast
// and the choice of what to recompute; the executor frees what dies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/graph/cost/convolution_case.h"
#include "temper/graph/fuse/fusion.h"
#include "temper/graph/op/storage_map.h"

namespace temper::graph {

struct LivenessOptions {
  // Attention in one kernel keeps no weights; LibTorch 1.13 has none.
  bool fused_attention = false;
  // Two gradients of one value are added into the first where nobody else
  // looks at it; LibTorch 1.13 always makes a third.
  bool adds_in_place = false;
  // The parameters' gradients stay once they are computed, as they do in the
  // first of a step's backward passes; else each is there only while computed.
  bool keep_gradients = false;
  // Images and filters have their channels last, and a CPU computes: parts of
  // the backward pass then keep a second copy in the other order.
  bool channels_last = false;
  // The threads of the CPU that computes, which decide what goes to oneDNN; 0:
  // a device without it.
  int threads = 2;
  // Asked for a convolution that may be where the peak is; empty, or where it
  // has no answer: oneDNN's copies by rule, as they are with AVX-512.
  ConvolutionBytes convolution_bytes = {};
  // The bytes that each node takes while it runs forward, and gives back; or
  // empty.
  std::vector<std::int64_t> scratch_bytes = {};
  // Groups of nodes that kernels compute at once, where they take the sizes.
  std::vector<Fusion> groups = {};
};

struct Peak {
  std::int64_t bytes = 0;
  std::size_t node = 0; // where in the graph's list
  bool backward = false;
};

struct Liveness {
  // For each node, the values nobody reads after it. Parameters, buffers and
  // the graph's results are not among them.
  std::vector<std::vector<std::string>> dies_after;
  // The bytes that each node makes; views make none.
  std::vector<std::int64_t> made_bytes;
  // The bytes that each node is the first to keep for the backward pass.
  std::vector<std::int64_t> saved_bytes;

  std::int64_t input_bytes = 0; // the batch itself, part of both peaks
  std::int64_t activation_bytes = 0; // all that is made, were none freed
  std::int64_t total_saved_bytes = 0; // at the end of the forward pass
  Peak eval;
  // The peak in training, without the parameters and without their gradients
  // except those that are being computed.
  Peak train;
};

// Segments marked to be computed again keep what they read and nothing else,
// until the backward pass reaches them.
Liveness liveness(
    const Graph& graph,
    const Inferred& known,
    const Symbols& symbols,
    const LivenessOptions& options = {});

} // namespace temper::graph
