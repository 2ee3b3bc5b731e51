// Graphs as TorchScript: LibTorch and Python run what was written, and make of
// it what the executor makes.
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <nlohmann/json.hpp>
#include <set>

#include "temper/base/error.h"
#include "temper/base/process/process.h"
#include "temper/base/text.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/executor/executor.h"
#include "temper/model/executor/executor_steps.h"
#include "temper/model/export/export.h"
#include "temper/model/export/older_nodes.h"
#include "temper/model/export/torchscript.h"
#include "temper/model/module/tensors.h"
#include "temper/model/zoo/zoo.h"
#include "temper/weights/pth.h"
#include "tests/graph/pt2/pt2_files.h"
#include "tests/half_precision.h"
#include "tests/paths.h"

namespace temper::model {
namespace {

namespace fs = std::filesystem;
using graph::Program;
using Json = nlohmann::json;
using testing::HasSubstr;

constexpr double kTolerance = 1e-5;

struct ScriptNet {
  std::string name;
  Program program;
};

std::vector<ScriptNet> fixtures() {
  std::vector<ScriptNet> nets;
  for (const auto& name : graph::pt2_fixtures())
    nets.push_back({name, graph::read_pt2(graph::pt2_fixture(name))});
  return nets;
}

std::vector<ScriptNet> zoo() {
  std::vector<ScriptNet> nets;
  for (const auto& line : zoo_lines()) {
    ZooOptions options{.name = line.name, .classes = 10, .seed = 3};
    if (line.name == "gpt_tiny") options.classes = {};
    if (line.name != "gpt_tiny") options.image_size = 32;
    if (line.name.starts_with("resnet") || line.name == "mobilenet_v2")
      options.width = 0.25;
    nets.push_back({line.name, build(options)});
  }
  return nets;
}

std::vector<ScriptNet> shared() {
  std::vector<ScriptNet> nets;
  for (const char* name :
       {"mobilenet_v2_w025",
        "tiny_resnet",
        "tiny_vit",
        "tiny_gpt",
        "tiny_lstm"}) {
    const auto path = graph::shared_pt2() / cat(name, ".pt2");
    if (fs::exists(path)) nets.push_back({name, graph::read_pt2(path)});
  }
  return nets;
}

// A batch of another size than the exporter's example.
std::vector<at::Tensor> inputs_for(const graph::Graph& graph) {
  const auto symbols = graph::bind_batch(graph, 3);
  std::vector<at::Tensor> inputs;
  for (const auto* input : graph.inputs_of(graph::InputKind::kUser)) {
    const auto& meta = graph.meta(input->value);
    std::vector<std::int64_t> sizes;
    for (const auto& size : meta.sizes)
      sizes.push_back(graph::evaluate(size, symbols));
    inputs.push_back(
        graph::is_floating(meta.dtype)
            ? at::randn(sizes, scalar_type_of(meta.dtype))
            : at::randint(0, 2, sizes, scalar_type_of(meta.dtype)));
  }
  return inputs;
}

std::vector<at::Tensor> outputs_of(
    const Program& program,
    const std::vector<at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  GraphModule module(program);
  module.set_training(false);
  return module.forward_all(inputs);
}

void expect_equal(
    const std::vector<at::Tensor>& found,
    const std::vector<at::Tensor>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].sizes(), wanted[i].sizes());
    const auto a = found[i].to(at::kDouble);
    const auto b = wanted[i].to(at::kDouble);
    const double size = std::max(1.0, b.abs().max().item<double>());
    EXPECT_LE((a - b).abs().max().item<double>(), kTolerance * size);
  }
}

std::vector<at::Tensor> run_script(
    const fs::path& path,
    const std::vector<at::Tensor>& inputs) {
  const at::NoGradGuard no_grad;
  auto module = torch::jit::load(path.string());
  const auto result =
      module.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  if (result.isTensor()) return {result.toTensor()};
  std::vector<at::Tensor> tensors;
  for (const auto& element : result.toTupleRef().elements())
    tensors.push_back(element.toTensor());
  return tensors;
}

// Parameters by name, those with two names once.
std::vector<std::string> parameter_names(const Program& program) {
  std::vector<std::string> names;
  for (const auto& parameter : GraphModule(program).parameters())
    names.push_back(parameter.name);
  return names;
}

void expect_runs(const std::vector<ScriptNet>& nets) {
  const graph::Pt2Folder folder;
  for (const auto& [name, program] : nets) {
    SCOPED_TRACE(name);
    at::manual_seed(5);
    const auto inputs = inputs_for(program.graph);
    const auto path = folder / (name + ".pt");
    export_program(program, path, {ExportFormat::kTorchScript, false, {}});
    expect_equal(run_script(path, inputs), outputs_of(program, inputs));
  }
}

TEST(TorchScript, RunsTheFixturesAsTheExecutorDoes) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  expect_runs(fixtures());
}

TEST(TorchScript, RunsEveryModelOfTheZooAsTheExecutorDoes) {
  expect_runs(zoo());
}

TEST(TorchScript, RunsExportedNetworksAsTheExecutorDoes) {
  const auto nets = shared();
  if (nets.empty())
    GTEST_SKIP() << "no .pt2 files in " << graph::shared_pt2()
                 << "; TEMPER_SHARED_DATA says where they are";
  expect_runs(nets);
}

TEST(TorchScript, SpellsOutWhatTheExecutorDoes) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  std::set<std::string> spelled;
  for (const std::string& name : operators_with_older_nodes())
    spelled.insert(name);
  for (const auto& [name, maker] : decomposed_steps())
    EXPECT_EQ(spelled.count(name), 1U) << name;
  const graph::Pt2Folder folder;
  for (const char* name : {"modern", "no_grad", "autocast", "per_channel"}) {
    const Program program =
        graph::switch_mode(graph::read_pt2(graph::pt2_fixture(name)), false)
            .program;
    write_torchscript(program, folder / "net.pt");
    auto script = torch::jit::load((folder / "net.pt").string());
    GraphModule module(program);
    module.set_training(false);
    const auto sizes =
        program.graph
            .meta(program.graph.inputs_of(graph::InputKind::kUser).at(0)->value)
            .sizes;
    std::vector<std::int64_t> shape;
    for (const auto& size : sizes)
      shape.push_back(size.value);
    const at::Tensor x = at::randn(shape);
    const at::Tensor theirs = script.forward({x}).toTensor();
    EXPECT_TRUE(at::allclose(theirs, module.forward({x}), 1e-5, 1e-6)) << name;
  }
}

TEST(TorchScript, KeepsNamesAndTies) {
  const graph::Pt2Folder folder;
  const Program program = graph::read_pt2(graph::pt2_fixture("tied"));
  write_torchscript(program, folder / "net.pt");
  auto module = torch::jit::load((folder / "net.pt").string());
  std::vector<std::string> names;
  for (const auto& parameter : module.named_parameters())
    names.push_back(parameter.name);
  for (const auto* input :
       program.graph.inputs_of(graph::InputKind::kParameter))
    EXPECT_THAT(names, testing::Contains(input->target));
}

TEST(TorchScript, AnOperatorThatIsNoneIsNamed) {
  const graph::Pt2Folder folder;
  Program program = graph::read_pt2(graph::pt2_fixture("cnn"));
  program.graph.nodes.front().op = "aten.no_such_thing.default";
  try {
    write_torchscript(program, folder / "net.pt");
    ADD_FAILURE() << "it was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no_such_thing"));
  }
  EXPECT_FALSE(fs::exists(folder / "net.pt"));
}

TEST(TorchScript, AFolderThatIsNotThereIsASentence) {
  const graph::Pt2Folder folder;
  const Program program = graph::read_pt2(graph::pt2_fixture("cnn"));
  EXPECT_THROW(write_torchscript(program, folder / "no/net.pt"), Error);
}

// What Python finds in the files, held against the executor.
class PythonWeights : public testing::Test {
 protected:
  // Inputs and the executor's outputs, for the script to read.
  fs::path data_of(const ScriptNet& net, const fs::path& path) {
    at::manual_seed(5);
    const auto inputs = inputs_for(net.program.graph);
    const auto outputs = outputs_of(net.program, inputs);
    graph::Weights data;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      data[cat("input.", i)] = data_of_tensor(inputs[i]);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      data[cat("output.", i)] = data_of_tensor(outputs[i]);
    weights::write_safetensors(data, path);
    return path;
  }
  static graph::TensorData data_of_tensor(const at::Tensor& tensor) {
    return temper::model::data_of(tensor);
  }

  // kind: "torchscript" or "pt2", as the script calls them.
  void add_file(const ScriptNet& net, const std::string& kind) {
    const std::string name = cat(jobs_.size(), "_", net.name);
    const auto path = folder_ / cat(name, ".", kind);
    export_program(net.program, path, {format_for("", kind), false, {}});
    jobs_.push_back(
        {{kind, path.string()},
         {"data", data_of(net, folder_ / (name + ".data")).string()},
         {"parameters", parameter_names(net.program)}});
  }

  void run() {
    const char* set = std::getenv("TEMPER_PYTHON");
    const std::string python = set != nullptr ? set : "/usr/bin/python3";
    ProcessLimits limits;
    limits.time = std::chrono::minutes(10);
    const auto result = run_process(
        {python, (tests::source_dir() / "reference/weights_check.py").string()},
        jobs_.dump(),
        limits);
    if (result.end == ProcessResult::End::not_started)
      GTEST_SKIP() << "there is no " << python << ": " << result.error;
    if (result.end == ProcessResult::End::exited && result.code == 77)
      GTEST_SKIP() << python << " has no torch that could: " << result.out;
    EXPECT_TRUE(result.succeeded()) << describe_end(result, limits) << "\n"
                                    << result.out << result.err;
  }

  graph::Pt2Folder folder_;
  Json jobs_ = Json::array();
};

TEST_F(PythonWeights, TorchScriptOfEveryNetworkRunsInPython) {
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  for (const auto& nets : {fixtures(), zoo(), shared()})
    for (const auto& net : nets)
      add_file(net, "torchscript");
  run();
}

// The fixtures and the shared networks are compared to the bit elsewhere,
// with the files Python wrote (tests/graph/pt2/python_load.cpp).
TEST_F(PythonWeights, Pt2OfEveryModelOfTheZooRunsInPython) {
  for (const auto& net : zoo())
    add_file(net, "pt2");
  run();
}

TEST_F(PythonWeights, TorchvisionTakesTheZoosStateDict) {
  for (const char* name : {"resnet18", "mobilenet_v2"}) {
    const ScriptNet net{
        name,
        build({.name = name, .classes = 10, .image_size = 64, .seed = 4})};
    const auto weights = folder_ / cat(name, ".safetensors");
    export_program(
        net.program, weights, {ExportFormat::kSafetensors, false, {}});
    jobs_.push_back(
        {{"torchvision", name},
         {"arguments", {{"num_classes", 10}}},
         {"weights", weights.string()},
         {"data", data_of(net, folder_ / cat(name, ".data")).string()}});
  }
  run();
}

TEST_F(PythonWeights, PthFilesComeOutAsTorchLoadHasThem) {
  for (const char* name : {"state_dict", "types", "views", "one_tensor"}) {
    const auto pth = tests::fixtures() / "pth" / cat(name, ".pth");
    const auto weights = folder_ / cat(name, ".safetensors");
    weights::write_safetensors(weights::read_pth(pth), weights);
    jobs_.push_back({{"pth", pth.string()}, {"weights", weights.string()}});
  }
  run();
}

} // namespace
} // namespace temper::model
