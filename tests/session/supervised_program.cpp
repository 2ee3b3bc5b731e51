// A C++ program under a parent of its own, which is killed in its sixth update
// the first time: supervised_program RUN
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "temper/session/session.h"
#include "temper/session/supervised_main.h"
#include "tests/train/run/counting_run.h"

namespace {

// Dies as soon as the checkpoint before is on disk: it is written beside the
// steps, and a test may be slow.
void die_after(const std::filesystem::path& checkpoint) {
  constexpr auto kPause = std::chrono::milliseconds(5);
  constexpr int kMostPauses = 20'000;
  for (int i = 0; i < kMostPauses && !std::filesystem::exists(checkpoint); ++i)
    std::this_thread::sleep_for(kPause);
  std::raise(SIGKILL);
}

} // namespace

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
          first ? 5 : -1, [&] { die_after(run / "checkpoints" / "step-4"); });
    };
    return session::train(request).exit_code;
  });
}
