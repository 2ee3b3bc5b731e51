// A train_step of your own with two losses that are optimised together, over a
// network of your own: a variational autoencoder.
//
//   vae RUN [STEPS]    trains in RUN, or goes on there, for STEPS
#include <torch/torch.h>
#include <iostream>

#include "temper/model/module/opaque.h"
#include "temper/session/session.h"
#include "temper/train/task/own_task.h"

using namespace temper;

constexpr std::int64_t kPixels = 64;
constexpr std::int64_t kCode = 4;

// From pixels to the mean and the logarithm of the variance of a code, and from
// a code back to pixels. A forward gives one tensor: the three side by side.
struct Autoencoder : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor hidden = in->forward(x.flatten(1)).relu();
    const at::Tensor mean = to_mean->forward(hidden);
    const at::Tensor log_var = to_variance->forward(hidden);
    // LibTorch is seeded before each step: a resumed run draws the same.
    const at::Tensor code = mean + at::randn_like(mean) * (0.5 * log_var).exp();
    const at::Tensor pixels = out->forward(from_code->forward(code).relu());
    return at::cat({pixels, mean, log_var}, 1);
  }
  static torch::nn::Linear layer(std::int64_t from, std::int64_t to) {
    return torch::nn::Linear(from, to);
  }
  torch::nn::Linear in = register_module("in", layer(kPixels, 32));
  torch::nn::Linear to_mean = register_module("mean", layer(32, kCode));
  torch::nn::Linear to_variance = register_module("variance", layer(32, kCode));
  torch::nn::Linear from_code = register_module("from_code", layer(kCode, 32));
  torch::nn::Linear out = register_module("out", layer(32, kPixels));
};

struct Vae : train::Task {
  Vae() : Task(model::make_opaque(std::make_shared<Autoencoder>())) {}

  at::Tensor train_step(const train::TensorBatch& batch) override {
    const auto parts = model()
                           .forward({batch.inputs})
                           .split_with_sizes({kPixels, kCode, kCode}, 1);
    const at::Tensor &mean = parts[1], &log_var = parts[2];
    const at::Tensor misses =
        (parts[0] - batch.inputs.flatten(1)).square().sum();
    const at::Tensor divergence =
        -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum();
    add("reconstruction", misses, double(batch.samples));
    add("divergence", divergence, double(batch.samples));
    return misses + divergence;
  }
};

int main(int count, char** words) try {
  const std::filesystem::path run = count > 1 ? words[1] : "runs/vae";
  int left = count > 2 ? std::stoi(words[2]) : -1;
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.data.source =
      "synthetic:images=640,size=8,channels=1,classes=4";
  request.config.train.epochs = 3;
  request.config.memory.micro_batch = 24; // samples in memory at once
  request.own_model = "autoencoder"; // instead of the config's
  request.factories.make_engine =
      train::with_task([](auto, auto&) { return std::make_unique<Vae>(); });
  request.control.stop = [&] { return --left == 0; };
  if (exists(run)) request.resume = run;
  const session::Result result = session::train(request);
  for (const auto& [name, value] : train::metrics_of(result.outcome.val))
    std::cout << name << " " << value << "\n";
  return result.exit_code;
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}
