// Initialisation as torchvision, timm and nanoGPT define it: which distribution
// each layer of a family starts from, and the draw of a whole network. Equal
// seeds give equal bits on every machine. Used by the zoo. No torch here.
// Private to model/zoo.
#pragma once

#include <cstdint>

#include "temper/graph/build/builder.h"
#include "temper/graph/ir/program.h"

namespace temper::model {

// kaiming_normal_(mode = "fan_out", nonlinearity = "relu"): sqrt(2 / fan_out).
graph::Fill kaiming_normal_fan_out(const std::vector<std::int64_t>& sizes);

// torchvision's ResNet: convolutions as above, the classifier as nn.Linear.
graph::LayerFills resnet_fills();
// torchvision's MobileNetV2: the classifier normal of deviation 0.01, bias 0.
graph::LayerFills mobilenet_fills();
// timm's VisionTransformer: linear layers truncated normal of deviation 0.02,
// bias 0. timm cuts at 2, not at two deviations: a hundred deviations away.
graph::LayerFills vit_fills();
graph::Fill vit_normal();
// GPT-2: everything normal of deviation 0.02, bias 0; the projections back onto
// the residual stream less, by the number of those added up.
graph::LayerFills gpt_fills();
graph::Fill gpt_normal();
graph::Fill gpt_residual(std::int64_t layers);

// The blueprint with all its weights drawn, each keyed by seed and name. Error
// when there are more than a machine of today can hold, before any is made.
graph::Program initialise(graph::Blueprint blueprint, std::uint64_t seed);

} // namespace temper::model
