#include "temper/session/start_from.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/journal/run_directory.h"
#include "temper/session/trained_model.h"

namespace temper::session {

config::Config config_from(
    const std::string& run,
    const std::vector<config::Assignment>& assignments) {
  const auto given = [&](const char* key) {
    return std::any_of(
        assignments.begin(), assignments.end(), [&](const auto& each) {
          return each.key == key;
        });
  };
  const auto where = config::load(std::nullopt, assignments).config.run.dir;
  const auto from = journal::find_run(where, run);
  if (!std::filesystem::exists(from.config()))
    throw Error(
        cat("[train] ", from.path.string(), " has lost its config.toml."),
        "Resume it once, which mends it, or give the config and --set "
        "model.weights=RUN by hand.");
  config::Config config = config::load(from.config(), assignments).config;
  if (!given("run.name")) config.run.name.clear();
  if (!given("run.dir")) config.run.dir = where;
  if (given("model.weights")) return config;
  const auto weights = best_weights(from);
  if (weights == from.path &&
      !std::filesystem::exists(from.checkpoints() / "latest"))
    throw Error(
        cat("[train] ",
            from.path.string(),
            " has no checkpoint to start from."),
        cat("Go on with it: temper train --resume ",
            from.path.string(),
            ", or begin anew with its config: temper train ",
            from.config().string(),
            "."));
  config.model.weights = weights.string();
  // The run's last layer has learnt, and comes with its other weights.
  if (!given("model.head") &&
      config::head_of(config.model) == config::HeadChoice::fresh)
    config.model.head = "fit";
  return config;
}

} // namespace temper::session
