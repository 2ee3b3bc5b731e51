// A loss of your own over a network of the zoo: the focal loss, which counts
// samples less the surer the network is of them.
//
//   own_loss RUN      trains in the directory RUN, on made-up pictures
#include <ATen/ATen.h>

#include <iostream>

#include "temper/session/session.h"
#include "temper/train/task/own_task.h"

using namespace temper;

class Focal : public train::Task {
 public:
  using Task::Task;

  // A sum over the samples of a slice. temper divides by those of the whole
  // batch, so that the gradient is the same however the batch is cut.
  at::Tensor train_step(const train::TensorBatch& batch) override {
    const at::Tensor scores = model().forward({batch.inputs});
    const at::Tensor truth = batch.targets.unsqueeze(1);
    const at::Tensor log_p = scores.log_softmax(1).gather(1, truth).squeeze(1);
    const at::Tensor right = scores.argmax(1).eq(batch.targets);
    add("accuracy", right.sum(), static_cast<double>(batch.samples));
    return -((1 - log_p.exp()).square() * log_p).sum();
  }
};

int main(int count, char** words) try {
  const std::filesystem::path run = count > 1 ? words[1] : "runs/own-loss";
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.data.source = "synthetic:images=320,size=16,classes=4";
  request.config.model.name = "cnn";
  request.config.train.epochs = 2;
  request.factories.make_engine = train::with_task(
      [](auto model, auto&) { return std::make_unique<Focal>(model); });
  const session::Result result = session::train(request);
  std::cout << "accuracy " << train::metric(result.outcome.val, "accuracy")
            << "\n";
  return result.exit_code;
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}
