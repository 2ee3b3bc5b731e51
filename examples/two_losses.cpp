// A train_step of your own over a network of the zoo: the usual cross-entropy,
// and a second loss that wants a picture and its mirror image to be told alike.
//
//   two_losses RUN      trains in the directory RUN, on made-up pictures
#include <ATen/ATen.h>

#include <iostream>

#include "temper/session/session.h"
#include "temper/train/run/run.h"
#include "temper/train/task/own_task.h"

using namespace temper;

class TwoLosses : public train::Task {
 public:
  using Task::Task;

  // Sums over the slice; temper divides by the samples of the whole batch, so
  // that the gradient is the same however the batch is cut.
  at::Tensor train_step(const train::TensorBatch& batch) override {
    const at::Tensor scores = model().forward({batch.inputs});
    const at::Tensor mirrored = model().forward({batch.inputs.flip({3})});
    const at::Tensor apart = (scores.softmax(1) - mirrored.softmax(1)).square();
    const at::Tensor right = scores.argmax(1).eq(batch.targets);
    const at::Tensor agree = scores.argmax(1).eq(mirrored.argmax(1));
    const auto samples = static_cast<double>(batch.samples);
    add("accuracy", right.sum(), samples);
    add("agreement", agree.sum(), samples);
    return at::cross_entropy_loss(
               scores, batch.targets, {}, at::Reduction::Sum) +
        0.5 * apart.sum();
  }
};

int main(int count, char** words) try {
  const std::filesystem::path run = count > 1 ? words[1] : "runs/two-losses";
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.data.source = "synthetic:images=320,size=16,classes=4";
  request.config.model.name = "cnn";
  request.config.train.epochs = 2;
  request.config.memory.micro_batch = 24; // samples in memory at once
  request.factories.make_engine = train::with_task([](auto model, const auto&) {
    return std::make_unique<TwoLosses>(model);
  });
  const session::Result result = session::train(request);
  for (const auto& [name, value] : train::metrics_of(result.outcome.val))
    std::cout << name << " " << value << "\n";
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}
