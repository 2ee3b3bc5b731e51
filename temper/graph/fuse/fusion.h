// Groups of nodes that a kernel computes at once: a convolution with the
// BatchNorm and activation behind it, a whole block of a network. The graph
// stays as it is; whoever runs it may compute a group in one go, at the place
// of its last node, or node by node. No torch here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"

namespace temper::graph {

enum class FusionKind {
  kConvolution,
  kConvNormAct,
  kNormAct,
  kInvertedResidual,
  kResidualBlock,
  kConvActPool,
  kMeanPool, // over height and width
  kLinear,
  kImageLinear, // over all numbers of an image
  kLayerNorm,
  kAttention,
  kTransformerBlock,
};

enum class FusedActivation {
  kNone,
  kRelu,
  kRelu6,
  kHardswish,
  kSilu,
  kGelu,
  kGeluTanh,
};

// The numbers of a convolution of images; its tensors are inputs of the fusion.
struct FusedConvolution {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
};

struct FusedNorm {
  double momentum = 0.1;
  double eps = 1e-5;
  bool training = true; // false: running statistics, which stay
};

struct Fusion {
  FusionKind kind = FusionKind::kConvolution;
  std::vector<std::size_t> nodes; // in the graph's order
  // Values in the order that the kernel wants them (model/fused/layers.h); ""
  // stands for a tensor that is not there.
  std::vector<std::string> inputs;
  std::string output; // what the last node makes
  std::vector<FusedConvolution> convolutions; // in the order they run
  std::vector<FusedNorm> norms;
  FusedActivation act = FusedActivation::kNone;
  FusedActivation last_act = FusedActivation::kNone; // of a block's end
  bool residual = false; // a block adds its input to its result,
  bool shortcut = false; // or a layer beside it, the last of its convolutions
  double eps = 1e-5; // of a LayerNorm
  std::int64_t pool = 0; // side of a pooled cell
  bool keeps_plane = false; // a mean over the plane leaves one of 1 x 1
  double second_eps = 1e-5; // of a transformer block's second LayerNorm
  bool causal = false;
  std::optional<double> scale; // of attention
  std::int64_t heads = 1; // of a transformer block
  // The smaller groups that a block was put together from: what to compute
  // where no kernel takes the whole of it.
  std::vector<Fusion> parts;
};

// Layers that are counted: "52 of 52 BatchNorm".
struct FusedCount {
  std::string what; // "BatchNorm"
  std::int64_t fused = 0;
  std::int64_t all = 0;
};

// Layers that LibTorch computes, by the reason.
struct LeftLayers {
  std::string why; // "dilation"
  std::int64_t count = 0;
};

struct Fusions {
  std::vector<Fusion> groups; // by their last node
  // Nodes that kernels compute by themselves, in no group: BatchNorm over
  // groups of samples.
  std::vector<std::size_t> alone;
  std::vector<FusedCount> counts;
  std::vector<LeftLayers> left; // the most frequent first
  // "52 of 52 convolutions, 52 of 52 BatchNorm fused, in 17 inverted residuals;
  // 3 left to LibTorch: dilation (2), groups (1)"; empty: nothing is fused.
  std::string report;
};

struct FusionOptions {
  // BatchNorm over groups of samples (model.bn_group) has steps of its own:
  // a BatchNorm that trains stays out of groups.
  bool norms_stay_alone = false;
};

// The groups of a graph, whichever mode it is in. No node is in two groups.
// Between a group's first and last node nobody changes what it reads, and
// nobody outside reads what it makes before its end. Kernels compute every
// group: what they do not take is left out.
Fusions find_fusions(const Graph& graph, const FusionOptions& options = {});

} // namespace temper::graph
