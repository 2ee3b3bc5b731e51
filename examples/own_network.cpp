// A network of your own on temper's fused kernels: temper::nn's modules beside
// torch::nn's, and a residual block whose forward calls them.
//   own_network RUN    trains in RUN
#include <torch/torch.h>
#include <iostream>

#include "temper/model/module/opaque.h"
#include "temper/model/nn/modules.h"
#include "temper/session/session.h"
#include "temper/train/run/run.h"
#include "temper/train/task/own_task.h"

using namespace temper;
using nn::Activation;

torch::nn::Conv2dOptions conv3x3(std::int64_t in, std::int64_t out) {
  return torch::nn::Conv2dOptions(in, out, 3).padding(1).bias(false);
}

// torch::nn's modules, under the names that ResNet's weights have; only
// forward() asks for the kernels.
struct BasicBlock : torch::nn::Module {
  explicit BasicBlock(std::int64_t width)
      : conv1(
            register_module("conv1", torch::nn::Conv2d(conv3x3(width, width)))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(width))),
        conv2(
            register_module("conv2", torch::nn::Conv2d(conv3x3(width, width)))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(width))) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = nn::conv_bn_act(x, conv1, bn1, Activation::kRelu);
    return nn::conv_bn_act(y, conv2, bn2, Activation::kRelu, x);
  }
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
};

struct Net : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = block->forward(stem->forward(x));
    y = wide->forward(down->forward(y));
    return head->forward(hidden->forward(y.mean({2, 3})));
  }
  nn::ConvBnAct stem = register_module("stem", nn::ConvBnAct(conv3x3(3, 16)));
  std::shared_ptr<BasicBlock> block =
      register_module("block", std::make_shared<BasicBlock>(16));
  nn::InvertedResidual down = register_module(
      "down",
      nn::InvertedResidual(nn::InvertedResidualOptions{
          .in_channels = 16,
          .out_channels = 24,
          .stride = 2}));
  nn::InvertedResidual wide = register_module(
      "wide",
      nn::InvertedResidual(
          nn::InvertedResidualOptions{.in_channels = 24, .out_channels = 24}));
  nn::LinearAct hidden = register_module("hidden", nn::LinearAct(24, 32));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(32, 4));
};

struct Classify : train::Task {
  Classify() : Task(model::make_opaque(std::make_shared<Net>())) {}
  at::Tensor train_step(const train::TensorBatch& batch) override {
    const at::Tensor scores = model().forward({batch.inputs});
    const at::Tensor right = scores.argmax(1).eq(batch.targets).sum();
    add("accuracy", right, double(batch.samples));
    return nn::cross_entropy(
        scores,
        batch.targets,
        torch::nn::CrossEntropyLossOptions().reduction(torch::kSum));
  }
};

int main(int count, char** words) try {
  const std::filesystem::path run = count > 1 ? words[1] : "runs/own_network";
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.data.source = "synthetic:images=640,size=16,classes=4";
  request.config.train.epochs = 3;
  request.own_model = "own_network"; // instead of the config's
  request.factories.make_engine = train::with_task(
      [](auto, auto&) { return std::make_unique<Classify>(); });
  const session::Result result = session::train(request);
  std::cout << "accuracy " << train::metric(result.outcome.val, "accuracy")
            << "\n";
  return result.exit_code;
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}
