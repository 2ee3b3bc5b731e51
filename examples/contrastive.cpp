// A torch::nn module of your own, with a loss that couples the samples of a
// batch: two noisy views of a row shall be nearer to each other than to others.
//   contrastive RUN [STEPS]    trains in RUN, or goes on there, for STEPS
#include <torch/torch.h>
#include <iostream>

#include "temper/model/module/opaque.h"
#include "temper/session/session.h"
#include "temper/train/run/run.h"
#include "temper/train/task/own_task.h"

using namespace temper;

struct Encoder : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x) {
    return out->forward(in->forward(x).relu());
  }
  torch::nn::Linear in = register_module("in", torch::nn::Linear(16, 32));
  torch::nn::Linear out = register_module("out", torch::nn::Linear(32, 8));
};

struct Contrastive : train::Task {
  Contrastive() : Task(model::make_opaque(std::make_shared<Encoder>())) {}
  bool needs_whole_batch() const override {
    return true; // never cut into slices: a row's rivals are all the others
  }
  // LibTorch is seeded before each step: a resumed run draws the same noise.
  at::Tensor train_step(const train::TensorBatch& batch) override {
    const auto view = [&] {
      const auto noise = at::randn_like(batch.inputs);
      const auto code = model().forward({batch.inputs + 0.5 * noise});
      return code / code.norm(2, 1, true);
    };
    const at::Tensor nearness = view().matmul(view().t()) / 0.2;
    const at::Tensor own = at::arange(batch.samples, batch.targets.options());
    add("matched", nearness.argmax(1).eq(own).sum(), double(batch.samples));
    return at::cross_entropy_loss(nearness, own, {}, at::Reduction::Sum);
  }
};

int main(int count, char** words) try {
  const std::filesystem::path run = count > 1 ? words[1] : "runs/contrastive";
  int left = count > 2 ? std::stoi(words[2]) : -1;
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.data.source = "synthetic:rows=640,features=16,classes=4";
  request.config.train.epochs = 3;
  request.own_model = "encoder"; // instead of the config's
  request.factories.make_engine = train::with_task(
      [](auto, auto&) { return std::make_unique<Contrastive>(); });
  request.control.stop = [&] { return --left == 0; };
  if (exists(run)) request.resume = run;
  const auto sums = session::train(request).outcome.train;
  std::cout << "matched " << train::metric(sums, "matched") << "\n";
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}
