// What temper writes, loaded by Python: the same outputs, gradients and state
// as the file it came from. Needs a Python whose torch reads such files.
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "pt2_files.h"
#include "temper/base/process/process.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "tests/paths.h"

namespace temper::graph {
namespace {

using Json = nlohmann::json;

constexpr int kNoTorch = 77;

// Every float32 parameter and buffer, so that no bytes of the original file can
// stand in. Python's module keeps constants where nobody can change them.
void multiply(Program& program, float factor) {
  std::map<const std::byte*, TensorData> changed; // tied names stay tied
  for (auto& [name, data] : program.weights) {
    if (data.dtype != DType::kFloat32 || data.byte_count == 0) continue;
    if (program.graph.find_target(name)->kind == InputKind::kConstant) continue;
    auto& made = changed[data.bytes.get()];
    if (made.bytes == nullptr) {
      auto fresh = make_tensor(data.dtype, data.sizes);
      for (std::size_t at = 0; at < data.byte_count; at += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, data.bytes.get() + at, sizeof value);
        value *= factor;
        std::memcpy(fresh.bytes + at, &value, sizeof value);
      }
      made = fresh.data;
    }
    data = made;
  }
}

Json job(
    const std::filesystem::path& original,
    const std::filesystem::path& written,
    float scale) {
  Program program = read_pt2(original);
  multiply(program, scale);
  write_pt2(program, written);
  return {
      {"original", original.string()},
      {"written", written.string()},
      {"scale", scale}};
}

// Skips the test when there is no Python that could; false then.
bool succeeds(const std::vector<std::string>& arguments, const Json& input) {
  const char* python = std::getenv("TEMPER_PYTHON");
  ProcessLimits limits;
  limits.time = std::chrono::minutes(10);
  std::vector<std::string> command{python != nullptr ? python : "python3"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto result = run_process(command, input.dump(), limits);
  const auto skip = [](const std::string& why) { GTEST_SKIP() << why; };
  if (result.end == ProcessResult::End::not_started) {
    skip(cat("there is no python3: ", result.error));
    return false;
  }
  if (result.end == ProcessResult::End::exited && result.code == kNoTorch) {
    skip(cat("this python3 has no torch 2.9 or newer: ", result.out));
    return false;
  }
  EXPECT_TRUE(result.succeeded()) << describe_end(result, limits) << "\n"
                                  << result.out << result.err;
  return result.succeeded();
}

const std::string kCheck =
    (tests::source_dir() / "reference/pt2_check.py").string();

void run(const Json& jobs) {
  succeeds({kCheck}, jobs);
}

// The document's blocks of Python.
std::vector<std::string> python_in(const std::filesystem::path& path) {
  const std::string text = bytes_of_file(path);
  const std::string fence = "```python\n";
  std::vector<std::string> blocks;
  for (auto at = text.find(fence); at != std::string::npos;
       at = text.find(fence, at)) {
    at += fence.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

TEST(PythonLoad, MakesTheSameOfTheFixturesWhenTemperWroteThem) {
  const Pt2Folder folder;
  const Json expected = Json::parse(
      bytes_of_file(pt2_fixture("cnn").parent_path() / "expected.json"));
  Json jobs = Json::array();
  for (const auto& name : pt2_fixtures()) {
    Json made =
        job(pt2_fixture(name),
            folder / (name + ".pt2"),
            name == "cnn" ? 1.0F : 0.5F);
    made["inputs"] = expected[name]["inputs"];
    if (name == "two_inputs") made["keywords"] = {"kind"};
    jobs.push_back(made);
  }
  run(jobs);
}

TEST(PythonLoad, MakesTheSameOfTheSharedNetworks) {
  if (!std::filesystem::exists(shared_pt2()))
    GTEST_SKIP() << "the shared .pt2 files are not here";
  const Pt2Folder folder;
  Json jobs = Json::array();
  for (const std::string name :
       {"mobilenet_v2_w025",
        "tiny_gpt",
        "tiny_lstm",
        "tiny_resnet",
        "tiny_vit"})
    for (const float scale : {1.0F, 0.5F}) {
      Json made =
          job(shared_pt2() / (name + ".pt2"),
              folder / cat(name, scale, ".pt2"),
              scale);
      made["inputs"] = {(shared_pt2() / (name + ".x.npy")).string()};
      jobs.push_back(made);
    }
  run(jobs);
}

TEST(PythonLoad, WhatTheDocumentSaysWorks) {
  const auto blocks = python_in(
      (tests::source_dir() / "docs/bring-your-own-model.md").string());
  ASSERT_EQ(blocks.size(), 2U);
  // Is there a torch that can?
  if (!succeeds({kCheck}, Json::array())) return;
  const Pt2Folder folder;
  const std::string go =
      cat("import os\nos.chdir('", (folder / "").string(), "')\n");
  ASSERT_TRUE(succeeds({"-c", go + blocks[0]}, {}));
  const Program program = read_pt2(folder / "net.pt2");
  EXPECT_EQ(fixed_batch_advice(program.graph), std::nullopt);
  write_pt2(program, folder / "trained.pt2");
  EXPECT_TRUE(succeeds({"-c", go + blocks[0] + blocks[1]}, {}));
}

} // namespace
} // namespace temper::graph
