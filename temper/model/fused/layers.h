// Layers as fused ops know them: the numbers that a graph's nodes carry, apart
// from the tensors, which come with every call. Includes torch: see module.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "temper/kernels/norm/activation.h"
#include "temper/model/fused/fused_op.h"

namespace temper::model {

using kernels::Activation;
using OpPointer = std::shared_ptr<const FusedOp>;

struct ConvSpec {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
};

struct NormSpec {
  double momentum = 0.1;
  double eps = 1e-5;
  bool training = true; // false: running statistics, which stay
};

// A convolution alone. Inputs: x, weight, bias (or undefined).
OpPointer make_convolution(const ConvSpec& spec);

// A depthwise convolution alone: one filter a channel, of 3x3 or 5x5.
OpPointer make_depthwise(const ConvSpec& spec);

// BatchNorm, then residual + activation: act(norm(x) + residual). Inputs: x,
// weight, bias, running_mean, running_var, residual (or undefined).
OpPointer make_norm_act(const NormSpec& norm, Activation act);

// Convolution without a bias, BatchNorm, residual, activation. Inputs: x, conv
// weight, norm weight, norm bias, running_mean, running_var, residual (or
// undefined).
OpPointer
make_conv_norm_act(const ConvSpec& conv, const NormSpec& norm, Activation act);

// Convolutions one after the other, each with its BatchNorm and activation; to
// the last one's norm, ahead of its activation, x may be added, or a shortcut
// of its own: the blocks of MobileNet and ResNet. Inputs: x, then per
// convolution its weight, norm weight, norm bias, running_mean, running_var
// (five each), the shortcut's at the end.
struct ConvLayerSpec {
  ConvSpec conv;
  NormSpec norm;
  Activation act = Activation::kNone; // of a shortcut: none
};
struct ConvChainSpec {
  std::vector<ConvLayerSpec> layers;
  bool adds_input = false;
  std::optional<ConvLayerSpec> shortcut; // norm(conv(x)) is added instead
};
OpPointer make_conv_chain(const ConvChainSpec& spec);

// Convolution with bias, activation and the largest of each pool x pool cell
// (stride = pool, no padding). Inputs: x, weight, bias (or undefined).
OpPointer
make_conv_act_pool(const ConvSpec& conv, Activation act, std::int64_t pool);

// The mean over height and width, as [images, channels], or with a plane of one
// pixel. Inputs: x.
OpPointer make_mean_pool(bool keeps_plane);

// act(x * weight^T + bias) + residual over the last dimension. Inputs: x,
// weight, bias (or undefined), residual (or undefined).
OpPointer make_linear(Activation act);

// The same over all numbers of each image. Inputs: x of four dimensions, weight
// of [out, channels * height * width], bias, residual (or undefined).
OpPointer make_image_linear(Activation act);

// LayerNorm over the last dimension. Inputs: x, weight, bias.
OpPointer make_layer_norm(double eps);

// softmax(q k^T * scale [, causal]) v, heads in the second dimension: q, k, v
// of [batch, heads, tokens, width] with any strides.
struct AttentionSpec {
  bool causal = false;
  std::optional<double> scale; // none: 1 / sqrt(width)
};
OpPointer make_attention(const AttentionSpec& spec);

// A pre-norm transformer block:
//   y = x + proj(attention(qkv(norm1(x)))); y + fc2(act(fc1(norm2(y)))).
// Inputs: x, norm1 weight, bias, qkv weight, bias, proj weight, bias, norm2
// weight, bias, fc1 weight, bias, fc2 weight, bias.
struct TransformerBlockSpec {
  std::int64_t heads = 1;
  AttentionSpec attention;
  double eps1 = 1e-5;
  double eps2 = 1e-5;
  Activation act = Activation::kGelu;
};
OpPointer make_transformer_block(const TransformerBlockSpec& spec);

} // namespace temper::model
