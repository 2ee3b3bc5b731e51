#include "temper/model/fused/make_fused.h"

namespace temper::model {

Activation activation_of(graph::FusedActivation act) {
  switch (act) {
    case graph::FusedActivation::kRelu:
      return Activation::kRelu;
    case graph::FusedActivation::kRelu6:
      return Activation::kRelu6;
    case graph::FusedActivation::kHardswish:
      return Activation::kHardswish;
    case graph::FusedActivation::kSilu:
      return Activation::kSilu;
    case graph::FusedActivation::kGelu:
      return Activation::kGelu;
    case graph::FusedActivation::kGeluTanh:
      return Activation::kGeluTanh;
    case graph::FusedActivation::kNone:
      break;
  }
  return Activation::kNone;
}

namespace {

ConvSpec spec_of(const graph::FusedConvolution& convolution) {
  return {
      convolution.kernel,
      convolution.stride,
      convolution.padding,
      convolution.dilation,
      convolution.groups};
}

NormSpec spec_of(const graph::FusedNorm& norm) {
  return {norm.momentum, norm.eps, norm.training};
}

OpPointer fused_convolution(const ConvSpec& spec) {
  return spec.groups > 1 ? make_depthwise(spec) : make_convolution(spec);
}

OpPointer fused_conv_chain(const graph::Fusion& fusion) {
  ConvChainSpec spec;
  for (std::size_t i = 0; i < fusion.convolutions.size(); ++i)
    spec.layers.push_back(
        {spec_of(fusion.convolutions[i]),
         spec_of(fusion.norms[i]),
         activation_of(fusion.act)});
  if (fusion.shortcut) {
    spec.shortcut = spec.layers.back();
    spec.shortcut->act = Activation::kNone;
    spec.layers.pop_back();
  }
  spec.layers.back().act = activation_of(fusion.last_act);
  spec.adds_input = fusion.residual;
  return make_conv_chain(spec);
}

OpPointer fused_transformer_block(const graph::Fusion& fusion) {
  TransformerBlockSpec spec;
  spec.heads = fusion.heads;
  spec.attention = {fusion.causal, fusion.scale};
  spec.eps1 = fusion.eps;
  spec.eps2 = fusion.second_eps;
  spec.act = activation_of(fusion.act);
  return make_transformer_block(spec);
}

} // namespace

OpPointer make_fused(const graph::Fusion& fusion) {
  const Activation act = activation_of(fusion.act);
  switch (fusion.kind) {
    case graph::FusionKind::kConvolution:
      return fused_convolution(spec_of(fusion.convolutions.front()));
    case graph::FusionKind::kConvNormAct:
      return make_conv_norm_act(
          spec_of(fusion.convolutions.front()),
          spec_of(fusion.norms.front()),
          act);
    case graph::FusionKind::kNormAct:
      return make_norm_act(spec_of(fusion.norms.front()), act);
    case graph::FusionKind::kInvertedResidual:
    case graph::FusionKind::kResidualBlock:
      return fused_conv_chain(fusion);
    case graph::FusionKind::kConvActPool:
      return make_conv_act_pool(
          spec_of(fusion.convolutions.front()), act, fusion.pool);
    case graph::FusionKind::kMeanPool:
      return make_mean_pool(fusion.keeps_plane);
    case graph::FusionKind::kLinear:
      return make_linear(act);
    case graph::FusionKind::kImageLinear:
      return make_image_linear(act);
    case graph::FusionKind::kLayerNorm:
      return make_layer_norm(fusion.eps);
    case graph::FusionKind::kAttention:
      return make_attention({fusion.causal, fusion.scale});
    case graph::FusionKind::kTransformerBlock:
      return fused_transformer_block(fusion);
  }
  return nullptr;
}
} // namespace temper::model
