// A network of temper's fused modules, through installed headers only.
#include <torch/csrc/autograd/function.h>
#include <torch/nn/modules/container/sequential.h>

#include <iostream>

#include "temper/model/nn/modules.h"

int main() {
  torch::nn::Sequential net(
      temper::nn::ConvBnAct(torch::nn::Conv2dOptions(3, 8, 3).padding(1)),
      temper::nn::InvertedResidual(temper::nn::InvertedResidualOptions{
          .in_channels = 8, .out_channels = 12, .stride = 2}));
  const at::Tensor y = net->forward(at::randn({2, 3, 8, 8}));
  y.sum().backward();
  std::cout << "network: " << y.sizes() << " by " << y.grad_fn()->name()
            << "\n";
}
