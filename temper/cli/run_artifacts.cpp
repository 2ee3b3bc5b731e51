#include "temper/cli/run_artifacts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "temper/base/atomic_file.h"
#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/cli/sample_predictions.h"
#include "temper/cli/trained_model.h"
#include "temper/data/bitmap_font.h"
#include "temper/data/png_file.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/messages.h"
#include "temper/model/export.h"
#include "temper/model/load_weights.h"
#include "temper/model/weights_file.h"
#include "temper/track/mlflow_model.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kMostClasses = 64; // more are too small to be read

void fill(
    data::Image& image,
    int left,
    int top,
    int size,
    const data::Colour& colour) {
  for (int y = top; y < top + size; ++y)
    for (int x = left; x < left + size; ++x) {
      std::uint8_t* pixel = image.row(y) + x * 3;
      pixel[0] = colour.red;
      pixel[1] = colour.green;
      pixel[2] = colour.blue;
    }
}

// White to a dark blue.
data::Colour shade(double part) {
  const auto mix = [&](double from, double to) {
    return static_cast<std::uint8_t>(from + (to - from) * part);
  };
  return {mix(255, 8), mix(255, 48), mix(255, 107)};
}

std::string write_confusion(const train::RunResult& result) {
  const auto& sums = result.outcome.val;
  if (sums.confusion.empty() || sums.classes > kMostClasses) return "";
  data::write_png(
      result.directory.artifacts() / "confusion_matrix.png",
      confusion_picture(sums, result.plan.classes));
  return "artifacts/confusion_matrix.png";
}

std::string write_checkpoint_list(const train::RunResult& result) {
  json list = json::array();
  std::error_code failed;
  std::vector<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(result.directory.checkpoints(), failed))
    if (entry.is_directory(failed) &&
        starts_with(entry.path().filename().string(), "step-"))
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

// With its best weights.
RunModelAndData trained(const journal::RunDirectory& run) {
  RunModelAndData made = model_of_run(run);
  const auto file = model::read_weights(best_weights(run));
  made.program =
      model::load_weights(made.program, file.weights, file.name).program;
  return made;
}

std::string write_predictions(
    const train::RunResult& result,
    const RunModelAndData& trained) {
  const auto picture =
      predictions_picture(trained, result.plan.forecast.at_once);
  if (!picture) return "";
  data::write_png(
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
  fs::create_directories(script.parent_path());
  model::export_program(
      program, script, {model::ExportFormat::kTorchScript, false, {}});
  model::export_program(
      program, folder / "model.pt2", {model::ExportFormat::kPt2, false, {}});
  track::ModelFacts facts;
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
  track::write_mlflow_model(folder, facts);
  return "artifacts/model";
}

} // namespace

data::Image confusion_picture(
    const train::MetricSums& sums,
    const std::vector<std::string>& classes) {
  const auto count = static_cast<int>(sums.classes);
  const int cell = std::clamp(480 / std::max(count, 1), 10, 48);
  const int scale = 1;
  std::size_t longest = 1;
  for (const std::string& name : classes)
    longest = std::max(longest, std::min<std::size_t>(name.size(), 16));
  const int margin = static_cast<int>(longest) * data::kLetterWidth * scale + 8;
  data::Image image(margin + count * cell + 4, count * cell + 4, 3);
  std::fill(image.pixels(), image.pixels() + image.bytes(), 255);
  for (int truth = 0; truth < count; ++truth) {
    const std::int64_t* row = sums.confusion.data() + truth * count;
    std::int64_t samples = 0;
    for (int i = 0; i < count; ++i)
      samples += row[i];
    const int top = 2 + truth * cell;
    const auto at = static_cast<std::size_t>(truth);
    data::draw_text(
        image,
        at < classes.size() ? classes[at].substr(0, 16) : cat(truth),
        4,
        top + (cell - data::kLetterHeight) / 2,
        margin,
        scale,
        {});
    for (int i = 0; i < count; ++i) {
      const double part = samples == 0
          ? 0
          : static_cast<double>(row[i]) / static_cast<double>(samples);
      const int left = margin + i * cell;
      fill(image, left, top, cell - 1, shade(part));
      if (cell < 30 || row[i] == 0) continue;
      const std::string text = cat(std::lround(part * 100));
      const auto ink =
          part > 0.5 ? data::Colour{255, 255, 255} : data::Colour{0, 0, 0};
      data::draw_text(
          image,
          text,
          left +
              (cell - static_cast<int>(text.size()) * data::kLetterWidth) / 2,
          top + (cell - data::kLetterHeight) / 2,
          left + cell,
          scale,
          ink);
    }
  }
  return image;
}

std::vector<std::string> write_run_artifacts(
    const train::RunResult& result,
    const config::Config& config) {
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
  attempt("its confusion matrix", [&] { return write_confusion(result); });
  attempt("the list of its checkpoints", [&] {
    return write_checkpoint_list(result);
  });
  const bool done = result.outcome.ending != train::Ending::kStopped;
  if (!done || config.track.model != "best" || config.track.mlflow == "off")
    return paths;
  attempt("the model", [&]() -> std::string {
    const RunModelAndData made = trained(result.directory);
    attempt("a sample of its predictions", [&] {
      return write_predictions(result, made);
    });
    return write_model(result, made.program);
  });
  return paths;
}

} // namespace temper::cli
