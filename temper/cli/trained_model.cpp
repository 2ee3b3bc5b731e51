#include "temper/cli/trained_model.h"

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/file.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/train/run_model.h"

namespace temper::cli {

namespace fs = std::filesystem;

RunModelAndData model_of_run(const journal::RunDirectory& run) {
  auto config = config::load(run.config(), {}).config;
  config.model.weights.clear(); // the run's own come in their place
  config.model.freeze.clear();
  auto data = train::open_data(config, current_environment(), 0);
  auto chosen = train::choose_model(config, data);
  if (!chosen.program)
    throw Error(
        cat("[model] ", run.path.string(), " trained a TorchScript file."),
        "Give its weights: temper export net.pt2 --weights the run's folder.");
  return {std::move(data), std::move(*chosen.program)};
}

fs::path best_weights(const journal::RunDirectory& run) {
  const auto best =
      read_small_file(run.checkpoints() / "best", 4096).value_or("");
  const fs::path folder = run.checkpoints() / std::string(trim(best));
  return !best.empty() && fs::exists(folder) ? folder : run.path;
}

} // namespace temper::cli
