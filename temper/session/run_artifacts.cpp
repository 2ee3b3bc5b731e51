#include "temper/session/run_artifacts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "temper/base/checkpoint_name.h"
#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/messages.h"
#include "temper/model/export/export.h"
#include "temper/plot/heat_map.h"
#include "temper/session/run_curves.h"
#include "temper/session/sample_predictions.h"
#include "temper/session/trained_model.h"
#include "temper/track/mlflow/mlflow_model.h"
#include "temper/train/setup/run_data.h"

namespace temper::session {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Writes a PNG for MLflow and, where it is worth enlarging, an SVG.
void write_picture(const fs::path& path, const plot::Drawing& drawing) {
  write_file_atomically(
      path,
      path.extension() == ".svg" ? plot::as_svg(drawing)
                                 : plot::as_png(drawing));
}

std::string write_confusion(
    const train::RunResult& result,
    const std::string& name) {
  const auto& sums = result.outcome.val;
  if (sums.confusion.empty()) return "";
  write_picture(
      result.directory.artifacts() / name,
      confusion_picture(sums, result.overview.classes));
  return cat("artifacts/", name);
}

std::string write_curves(
    const train::RunResult& result,
    const std::string& name) {
  auto curves = run_curves(result.directory);
  if (curves.empty()) return "";
  write_picture(
      result.directory.artifacts() / name, plot::charts(std::move(curves)));
  return cat("artifacts/", name);
}

std::string write_checkpoint_list(const train::RunResult& result) {
  json list = json::array();
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(result.directory.checkpoints(), failed))
    if (entry.is_directory(failed) &&
        names_checkpoint(entry.path().filename().string()))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::uint64_t bytes = 0;
    for (const auto& file : fs::recursive_directory_iterator(
             result.directory.checkpoints() / name, failed))
      if (file.is_regular_file(failed)) bytes += file.file_size(failed);
    list.push_back({{"name", name}, {"bytes", bytes}});
  }
  write_file_atomically(
      result.directory.artifacts() / "checkpoints.json", list.dump(1) + "\n");
  return "artifacts/checkpoints.json";
}

// {-1, 3, 32, 32}: the first size is the batch, which may be any.
std::vector<std::int64_t> shape_of(
    const graph::Graph& graph,
    const std::string& value) {
  std::vector<std::int64_t> shape;
  for (const auto& size : graph.meta(value).sizes)
    shape.push_back(size.fixed() ? size.value : -1);
  if (!shape.empty()) shape.front() = -1;
  return shape;
}

std::string numpy_type(const graph::Graph& graph, const std::string& value) {
  return graph::name_of(graph.meta(value).dtype);
}

std::string write_predictions(
    const train::RunResult& result,
    const config::Config& config,
    const graph::Program& trained,
    const train::OpenOwnData& open_own) {
  const auto data = train::open_data(
      config, current_environment(), 0, false, nullptr, open_own);
  const auto picture =
      predictions_picture(trained, data, result.overview.forecast.at_once);
  if (!picture) return "";
  write_picture(
      result.directory.artifacts() / "sample_predictions.png", *picture);
  return "artifacts/sample_predictions.png";
}

std::string write_model(
    const train::RunResult& result,
    const graph::Program& program) {
  const journal::RunDirectory& run = result.directory;
  const auto inputs = program.graph.inputs_of(graph::InputKind::kUser);
  const fs::path folder = run.artifacts() / "model";
  const fs::path script = track::torchscript_place(folder);
  const std::string schema = schema_of_run(run);
  fs::create_directories(script.parent_path());
  model::export_program(
      program,
      folder / "model.pt2",
      {model::ExportFormat::kPt2, false, {}, schema});
  track::ModelFacts facts;
  try {
    model::export_program(
        program,
        script,
        {model::ExportFormat::kTorchScript, false, {}, schema});
  } catch (const std::exception& error) {
    facts.torchscript = false;
    log::note(
        cat("the model is kept as model.pt2 alone: ",
            libtorch::first_line(error.what())));
  }
  const std::string input = inputs.at(0)->value;
  std::vector<std::string> outputs;
  for (const graph::Output& output : program.graph.outputs)
    if (output.kind == graph::OutputKind::kUser)
      for (std::string& name : graph::tensors_in(output.value))
        outputs.push_back(std::move(name));
  facts.input_shape = shape_of(program.graph, input);
  facts.input_type = numpy_type(program.graph, input);
  facts.output_shape = shape_of(program.graph, outputs.at(0));
  facts.output_type = numpy_type(program.graph, outputs.at(0));
  facts.torch_version = libtorch::facts().version;
  facts.schema = schema;
  track::write_mlflow_model(folder, facts);
  return "artifacts/model";
}

} // namespace

plot::Drawing confusion_picture(
    const train::MetricSums& sums,
    const std::vector<std::string>& classes) {
  plot::HeatMap map;
  map.title = "Confusion matrix of the validation";
  map.row_title = "true class";
  map.column_title = "predicted class";
  map.scale_title = "share of the true class";
  const auto count = static_cast<std::size_t>(sums.classes);
  for (std::size_t i = 0; i < count; ++i)
    map.names.push_back(i < classes.size() ? classes[i] : cat(i));
  map.counts = sums.confusion;
  return plot::heat_map(std::move(map));
}

std::vector<std::string> write_run_artifacts(
    const train::RunResult& result,
    const config::Config& config,
    const train::RunRequest& request) {
  std::vector<std::string> paths;
  const auto attempt = [&](const char* what,
                           const std::function<std::string()>& make) {
    try {
      const std::string path = make();
      if (!path.empty()) paths.push_back(path);
    } catch (const std::exception& error) {
      log::warn(
          cat("the run is done, but ",
              what,
              " was not kept: ",
              libtorch::first_line(error.what()),
              "."));
    }
  };
  // A copy of the run may have lost the empty folder; whoever cannot write
  // there says so.
  std::error_code failed;
  fs::create_directories(result.directory.artifacts(), failed);
  for (const std::string ending : {".png", ".svg"}) {
    attempt("its confusion matrix", [&] {
      return write_confusion(result, "confusion_matrix" + ending);
    });
    attempt("a picture of its curves", [&] {
      return write_curves(result, "curves" + ending);
    });
  }
  attempt("the list of its checkpoints", [&] {
    return write_checkpoint_list(result);
  });
  const bool done = result.outcome.ending != train::Ending::kStopped;
  if (!done || config.track.model != "best" || config.track.mlflow == "off" ||
      !request.own_model.empty()) // it is no graph
    return paths;
  attempt("the model", [&]() -> std::string {
    const graph::Program trained = trained_model(result.directory);
    attempt("a sample of its predictions", [&] {
      return write_predictions(
          result, config, trained, request.factories.open_data);
    });
    return write_model(result, trained);
  });
  return paths;
}

} // namespace temper::session
