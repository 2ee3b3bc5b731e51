// ResNet-18 as a person writes it with torch::nn, torchvision's layers and
// names: what the executor's overhead is measured against.
#pragma once

#include <torch/torch.h>

namespace temper::bench {

struct BasicBlockImpl : torch::nn::Module {
  BasicBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : conv1(options(in, out, 3, stride).padding(1)),
        bn1(out),
        conv2(options(out, out, 3, 1).padding(1)),
        bn2(out) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("conv2", conv2);
    register_module("bn2", bn2);
    if (stride != 1 || in != out) {
      downsample = torch::nn::Sequential(
          torch::nn::Conv2d(options(in, out, 1, stride)),
          torch::nn::BatchNorm2d(out));
      register_module("downsample", downsample);
    }
  }

  static torch::nn::Conv2dOptions options(
      std::int64_t in,
      std::int64_t out,
      std::int64_t kernel,
      std::int64_t stride) {
    return torch::nn::Conv2dOptions(in, out, kernel).stride(stride).bias(false);
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = bn1(conv1(x)).relu_();
    y = bn2(conv2(y));
    y += downsample.is_empty() ? x : downsample->forward(x);
    return y.relu_();
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Sequential downsample{nullptr};
};
TORCH_MODULE(BasicBlock);

struct ResNet18 : torch::nn::Module {
  ResNet18()
      : conv1(BasicBlockImpl::options(3, 64, 7, 2).padding(3)),
        bn1(64),
        layers(
            BasicBlock(64, 64, 1),
            BasicBlock(64, 64, 1),
            BasicBlock(64, 128, 2),
            BasicBlock(128, 128, 1),
            BasicBlock(128, 256, 2),
            BasicBlock(256, 256, 1),
            BasicBlock(256, 512, 2),
            BasicBlock(512, 512, 1)),
        fc(512, 1000) {
    register_module("conv1", conv1);
    register_module("bn1", bn1);
    register_module("layers", layers);
    register_module("fc", fc);
  }

  at::Tensor forward(at::Tensor x) {
    x = bn1(conv1(x)).relu_();
    x = torch::max_pool2d(x, 3, 2, 1);
    x = layers->forward(x);
    return fc(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Sequential layers;
  torch::nn::Linear fc;
};

} // namespace temper::bench
