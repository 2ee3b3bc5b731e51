#include "temper/session/trained_model.h"

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/train/run/kept_model.h"
#include "temper/train/run/repair_run.h"
#include "temper/train/setup/run_data.h"
#include "temper/train/setup/run_model.h"
#include "temper/weights/load_weights.h"
#include "temper/weights/weights_file.h"

namespace temper::session {

namespace fs = std::filesystem;

namespace {

// The way of runs that do not carry their model: from config and data.
graph::Program built_again(
    const journal::RunDirectory& run,
    config::Config config) {
  config.model.weights.clear(); // the run's own come in their place
  config.model.freeze.clear();
  if (config.model.name.empty()) config.model.name = train::planned_model(run);
  try {
    const auto data = train::open_data(config, current_environment(), 0);
    return *train::choose_model(config, data).program;
  } catch (const Error& error) {
    throw Error(
        cat("[model] ",
            run.path.string(),
            " was made by an earlier temper and does not carry its model. "
            "Building it again from its data failed: ",
            error.what()),
        "Run this where the run was trained, or resume the run there once: "
        "then it carries its model.");
  }
}

} // namespace

graph::Program model_of_run(const journal::RunDirectory& run) {
  if (auto kept = train::kept_model(run)) return *std::move(kept);
  auto config = config::load(run.config(), {}).config;
  if (fs::path(config.model.name).extension() == ".pt")
    throw Error(
        cat("[model] ",
            run.path.string(),
            " trained a TorchScript file, ",
            config.model.name,
            ", which temper does not look into: it cannot write it in another "
            "form."),
        "Its tensors are in checkpoints/best of the run, as safetensors; or "
        "export the network with torch.export and give the run as --weights: "
        "temper export net.pt2 --weights RUN.");
  return built_again(run, std::move(config));
}

std::string schema_of_run(const journal::RunDirectory& run) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  return read_small_file(run.path / "schema.json", kMostBytes).value_or("");
}

fs::path best_weights(const journal::RunDirectory& run) {
  const auto best =
      read_small_file(run.checkpoints() / "best", 4096).value_or("");
  const fs::path folder = run.checkpoints() / std::string(trim(best));
  return !best.empty() && fs::exists(folder) ? folder : run.path;
}

graph::Program trained_model(const journal::RunDirectory& run) {
  const auto file = weights::read_weights(best_weights(run));
  return weights::load_weights(model_of_run(run), file.weights, file.name)
      .program;
}

} // namespace temper::session
