// Data of your own: a source that computes its samples, under a parent that
// starts the program again should it be killed. Two spirals are told apart.
//
//   own_source RUN      trains in the directory RUN
#include <cmath>
#include <iostream>

#include "temper/base/digest/hash.h"
#include "temper/session/session.h"
#include "temper/session/supervised_main.h"

using namespace temper;

class Spirals : public data::IndexedSource {
 public:
  explicit Spirals(std::int64_t samples) : samples_(samples) {
    info_.name = "spirals";
    info_.input = data::Input::numbers;
    info_.target = data::Target::label;
    info_.shape = {2};
    info_.classes = {"one", "other"};
  }
  const data::SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return samples_;
  }
  // Called from several threads at once.
  void read(std::int64_t index, data::Sample& sample) const override {
    const double turn = 0.5 + 6.0 * double(index) / double(samples_);
    const double side = index % 2 == 0 ? 1 : -1;
    sample.numbers = {
        float(side * turn * std::cos(turn)),
        float(side * turn * std::sin(turn))};
    sample.label = index % 2;
  }
  // The rest is optional. A label that is known without reading keeps the
  // classes' shares in the validation part:
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return index % 2;
  }
  // A resume refuses data that has another fingerprint:
  std::uint64_t fingerprint() const override {
    return hash64("spirals of 6 radians") + std::uint64_t(samples_);
  }

 private:
  data::SourceInfo info_;
  std::int64_t samples_;
};

int train_in(const std::filesystem::path& run) try {
  session::Request request;
  request.config.run.dir = run.parent_path().string();
  request.config.run.name = run.filename().string();
  request.config.model.name = "mlp";
  request.config.model.widths = {64, 64};
  request.config.optimizer.lr = 0.01;
  request.config.train.epochs = 20;
  request.factories.open_data = [](const config::Config&) {
    train::OwnData own; // a tenth of it becomes the validation part
    own.train = std::make_shared<Spirals>(2000);
    return own;
  };
  const session::Result result = session::train(request);
  std::cout << "accuracy " << train::metric(result.outcome.val, "accuracy")
            << "\n";
  return result.exit_code;
} catch (const Error& error) {
  std::cerr << error.what() << "\n" << error.hint() << "\n";
  return 1;
}

int main(int count, char** words) {
  const char* run = count > 1 ? words[1] : "runs/spirals";
  return session::supervised_main(count, words, [&] { return train_in(run); });
}
