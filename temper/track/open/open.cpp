// The table of trackers.
#include "temper/track/follow/target.h"
#include "temper/track/mlflow/installed_mlflow.h"
#include "temper/track/mlflow/mlflow_file.h"
#include "temper/track/mlflow/mlflow_http.h"
#include "temper/track/mlflow/mlflow_sqlite.h"
#include "temper/track/tensorboard/tensorboard.h"

namespace temper::track {

std::unique_ptr<Tracker> make_tracker(
    const Target& target,
    const Options& options) {
  switch (target.kind) {
    case Target::Kind::sqlite:
      return std::make_unique<MlflowSqlite>(
          target.path, installed_mlflow(options.environment) >= 3);
    case Target::Kind::file:
      return std::make_unique<MlflowFile>(target.path);
    case Target::Kind::http:
      return std::make_unique<MlflowHttp>(
          target.url, http_settings(options.environment));
    case Target::Kind::tensorboard:
      return std::make_unique<TensorBoard>(target.path, options.histograms);
  }
  throw Bug("a target outside the table");
}

} // namespace temper::track
