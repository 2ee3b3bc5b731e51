#include "temper/track/mlflow/mlflow_model.h"

#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/track/follow/delivery_state.h"
#include "temper/track/mlflow/yaml.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// An example larger than this is of no use to anybody who reads it.
constexpr std::int64_t kMostExampleNumbers = 200'000;

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &utc);
  return cat(text.data(), ".000000");
}

std::string tensor_json(
    const std::string& type,
    const std::vector<std::int64_t>& shape) {
  return json::array({{{"type", "tensor"},
                       {"tensor-spec", {{"dtype", type}, {"shape", shape}}}}})
      .dump();
}

// Zeros of that shape, a batch of one.
json zeros(
    const std::vector<std::int64_t>& shape,
    std::size_t axis,
    const json& zero) {
  if (axis == shape.size()) return zero;
  const std::int64_t size = shape[axis] < 0 ? 1 : shape[axis];
  json list = json::array();
  const json inner = zeros(shape, axis + 1, zero);
  for (std::int64_t i = 0; i < size; ++i)
    list.push_back(inner);
  return list;
}

bool small_enough(const std::vector<std::int64_t>& shape) {
  std::int64_t numbers = 1;
  for (const std::int64_t size : shape) {
    if (size > kMostExampleNumbers) return false;
    numbers *= size < 0 ? 1 : size;
    if (numbers > kMostExampleNumbers) return false;
  }
  return true;
}

constexpr const char* kLoader = "temper_model";

// The module that mlflow.pyfunc imports from the folder's code.
std::string loader(const ModelFacts& facts) {
  return cat(
      R"python("""Runs a model that temper exported, for mlflow.pyfunc."""

import os

import numpy
import torch

INPUT_TYPE = ")python",
      facts.input_type,
      R"python("


class Model:
    def __init__(self, path):
        script = os.path.join(os.path.dirname(path), "data", "model.pth")
        version = tuple(int(n) for n in torch.__version__.split(".")[:2])
        if version >= (2, 9) or not os.path.exists(script):
            self.module = torch.export.load(path).module()
        else:
            self.module = torch.jit.load(script).eval()

    def predict(self, data, params=None):
        if isinstance(data, dict):
            data = next(iter(data.values()))
        if hasattr(data, "to_numpy"):
            data = data.to_numpy()
        rows = numpy.ascontiguousarray(data, dtype=INPUT_TYPE)
        with torch.no_grad():
            result = self.module(torch.from_numpy(rows))
        if isinstance(result, dict):
            result = next(iter(result.values()))
        if isinstance(result, (tuple, list)):
            result = result[0]
        return result.float().numpy()


def _load_pyfunc(path):
    return Model(path)
)python");
}

// MLflow hands it on: load_model(...).metadata.metadata["temper_schema"].
std::string schema_metadata(const std::string& schema) {
  if (schema.empty()) return "";
  const json parsed = json::parse(schema, nullptr, false);
  return parsed.is_discarded()
      ? ""
      : cat("metadata:\n  temper_schema: ", yaml_text(parsed.dump()), "\n");
}

std::string mlmodel(const ModelFacts& facts, bool example) {
  const std::string key = random_key();
  std::string out =
      cat("artifact_path: model\n"
          "flavors:\n"
          "  python_function:\n"
          "    code: code\n"
          "    data: model.pt2\n"
          "    env:\n"
          "      conda: conda.yaml\n"
          "      virtualenv: python_env.yaml\n"
          "    loader_module: ",
          kLoader,
          "\n    python_version: 3.11.2\n");
  if (facts.torchscript)
    out +=
        cat("  pytorch:\n"
            "    code: null\n"
            "    model_data: data\n"
            "    pytorch_version: ",
            yaml_text(facts.torch_version),
            "\n");
  out +=
      cat(schema_metadata(facts.schema),
          "mlflow_version: 3.1.0\nmodel_id: ",
          yaml_text(cat("m-", key)),
          "\nmodel_uuid: ",
          yaml_text(key),
          "\n");
  if (example)
    out +=
        "saved_input_example_info:\n"
        "  artifact_path: input_example.json\n"
        "  serving_input_path: serving_input_example.json\n"
        "  type: ndarray\n";
  return out +
      cat("signature:\n"
          "  inputs: ",
          yaml_text(tensor_json(facts.input_type, facts.input_shape)),
          "\n  outputs: ",
          yaml_text(tensor_json(facts.output_type, facts.output_shape)),
          "\n  params: null\n"
          "utc_time_created: ",
          yaml_text(utc_now()),
          "\n");
}

// The value behind "key: " at the front of a line, quotes taken off.
std::string value_in(const std::string& yaml, const std::string& key) {
  for (const std::string& line : split(yaml, '\n'))
    if (line.starts_with(key + ": ")) {
      const std::string value = line.substr(key.size() + 2);
      return value.size() > 1 && value.front() == '\''
          ? value.substr(1, value.size() - 2)
          : value;
    }
  return "";
}

} // namespace

fs::path torchscript_place(const fs::path& folder) {
  return folder / "data" / "model.pth";
}

void write_mlflow_model(const fs::path& folder, const ModelFacts& facts) {
  fs::create_directories(folder / "data");
  fs::create_directories(folder / "code");
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder / name, text);
  };
  if (!facts.schema.empty()) write("schema.json", facts.schema);
  const std::string torch = "torch>=2.9"; // reads model.pt2
  if (facts.torchscript)
    write("data/pickle_module_info.txt", "mlflow.pytorch.pickle_module");
  write(cat("code/", kLoader, ".py"), loader(facts));
  write("requirements.txt", cat("mlflow\nnumpy\n", torch, "\n"));
  write(
      "conda.yaml",
      cat("channels:\n- conda-forge\ndependencies:\n- python=3.11.2\n"
          "- pip\n- pip:\n  - mlflow\n  - numpy\n  - ",
          torch,
          "\nname: mlflow-env\n"));
  write(
      "python_env.yaml",
      "python: 3.11.2\nbuild_dependencies:\n- pip\ndependencies:\n"
      "- -r requirements.txt\n");
  const bool example = small_enough(facts.input_shape);
  if (example) {
    const bool whole = contains(facts.input_type, "int");
    const json input = zeros(facts.input_shape, 0, whole ? json(0) : json(0.0));
    write("input_example.json", input.dump());
    write("serving_input_example.json", json{{"inputs", input}}.dump());
  }
  // Last: a folder with it is a model.
  write("MLmodel", mlmodel(facts, example));
}

std::optional<Pair> model_history_tag(
    const Artifact& artifact,
    const std::string& run_id) {
  const fs::path name = artifact.name;
  if (name.filename() != "MLmodel") return std::nullopt;
  const std::string yaml = read_small_file(artifact.file).value_or("");
  const std::string torch = [&] {
    for (const std::string& line : split(yaml, '\n'))
      if (contains(line, "pytorch_version: "))
        return value_in(std::string(trim(line)), "pytorch_version");
    return std::string();
  }();
  json flavors{
      {"python_function",
       {{"loader_module", kLoader},
        {"code", "code"},
        {"data", "model.pt2"},
        {"python_version", "3.11.2"}}}};
  if (!torch.empty())
    flavors["pytorch"] = {{"model_data", "data"}, {"pytorch_version", torch}};
  const json model{
      {"run_id", run_id},
      {"artifact_path", name.parent_path().generic_string()},
      {"utc_time_created", value_in(yaml, "utc_time_created")},
      {"model_uuid", value_in(yaml, "model_uuid")},
      {"flavors", flavors}};
  return Pair{"mlflow.log-model.history", json::array({model}).dump()};
}

} // namespace temper::track
