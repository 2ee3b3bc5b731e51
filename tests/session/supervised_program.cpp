// A C++ program under a parent of its own, which is killed in its sixth update
// the first time: supervised_program RUN
#include <csignal>
#include <filesystem>

#include "temper/session/session.h"
#include "temper/session/supervised_main.h"
#include "tests/train/run/counting_run.h"

int main(int argc, char** argv) {
  using namespace temper;
  return session::supervised_main(argc, argv, [&] {
    const std::filesystem::path run = argv[1];
    const bool first = !std::filesystem::exists(run);
    session::Request request;
    request.config.data.source = "synthetic:rows=64,features=4,classes=2";
    request.config.run.dir = run.parent_path().string();
    request.config.run.name = run.filename().string();
    request.config.train.batch = 8;
    request.config.train.epochs = 2;
    request.config.plan.seconds = 0;
    request.config.checkpoint.every_steps = 2;
    request.config.track.mlflow = "off";
    request.config.track.tensorboard = (run.parent_path() / "board").string();
    request.own_model = "counting";
    request.factories.make_engine = [&](const train::EngineRequest&) {
      return std::make_unique<train::CountingEngine>(
          first ? 5 : -1, [] { std::raise(SIGKILL); });
    };
    return session::train(request).exit_code;
  });
}
