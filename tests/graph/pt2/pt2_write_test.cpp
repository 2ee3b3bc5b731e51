#include <gtest/gtest.h>

#include <cstring>

#include "pt2_files.h"
#include "temper/base/error.h"
#include "temper/base/file/zip_file.h"
#include "temper/graph/pt2/pt2.h"

namespace temper::graph {
namespace {

void expect_equal(const Weights& a, const Weights& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, data] : a) {
    const TensorData& other = b.at(name);
    EXPECT_EQ(data.dtype, other.dtype) << name;
    EXPECT_EQ(data.sizes, other.sizes) << name;
    ASSERT_EQ(data.byte_count, other.byte_count) << name;
    if (data.byte_count == 0) continue;
    EXPECT_EQ(
        std::memcmp(data.bytes.get(), other.bytes.get(), data.byte_count), 0)
        << name;
  }
}

// As the zoo makes them: no metadata, no calling convention.
Program plain_program() {
  Program program;
  Graph& graph = program.graph;
  const auto tensor = [&](const std::string& name, Sizes sizes) {
    TensorMeta meta;
    meta.sizes = std::move(sizes);
    meta.strides = Sizes(meta.sizes.size(), Size(1));
    graph.tensors[name] = meta;
  };
  graph.producer = "temper test";
  graph.inputs = {
      {InputKind::kParameter, "p_fc_weight", "fc.weight"},
      {InputKind::kUser, "x", "x"}};
  const Size batch(4, "Symbol('s0', positive=True, integer=True)");
  tensor("p_fc_weight", {2, 3});
  tensor("x", {batch, 3});
  tensor("linear", {batch, 2});
  graph.symbols["s0"] = {2, std::nullopt};
  Node linear;
  linear.op = "aten.linear.default";
  linear.module = "fc";
  linear.source = "net.py:3";
  linear.inputs = {
      {"input", TensorName{"x"}}, {"weight", TensorName{"p_fc_weight"}}};
  linear.outputs = {TensorName{"linear"}};
  graph.nodes = {linear};
  graph.outputs = {{OutputKind::kUser, TensorName{"linear"}, ""}};
  program.weights["fc.weight"] = make_tensor(DType::kFloat32, {2, 3}).data;
  return program;
}

TEST(WritePt2, WhatWasReadGoesOutAsItCameIn) {
  const Pt2Folder folder;
  for (const auto& name : pt2_fixtures()) {
    const Program program = read_pt2(pt2_fixture(name));
    write_pt2(program, folder / "net.pt2");
    const Program again = read_pt2(folder / "net.pt2");
    EXPECT_TRUE(again.graph == program.graph) << name;
    expect_equal(program.weights, again.weights);
  }
}

TEST(WritePt2, TheSameProgramGivesTheSameBytes) {
  const Pt2Folder folder;
  const Program program = read_pt2(pt2_fixture("tied"));
  write_pt2(program, folder / "net.pt2");
  const auto first = bytes_of_file(folder / "net.pt2");
  write_pt2(program, folder / "net.pt2");
  EXPECT_EQ(bytes_of_file(folder / "net.pt2"), first);
}

TEST(WritePt2, AFileMayBeWrittenOverTheOneItsWeightsLieIn) {
  const Pt2Folder folder;
  std::filesystem::copy_file(pt2_fixture("cnn"), folder / "net.pt2");
  const Program program = read_pt2(folder / "net.pt2");
  write_pt2(program, folder / "net.pt2");
  expect_equal(read_pt2(folder / "net.pt2").weights, program.weights);
}

TEST(WritePt2, TiedWeightsAreWrittenOnceAndStayTied) {
  const Pt2Folder folder;
  write_pt2(read_pt2(pt2_fixture("tied")), folder / "net.pt2");
  const Program again = read_pt2(folder / "net.pt2");
  EXPECT_EQ(
      again.weights.at("embed.weight").bytes.get(),
      again.weights.at("head.weight").bytes.get());
}

TEST(WritePt2, AnArchiveWithoutWeightsHasTheGraphTheConstantsAndZeros) {
  const Pt2Folder folder;
  for (const auto& name : pt2_fixtures()) {
    const Program program = read_pt2(pt2_fixture(name));
    const auto path = folder / (name + ".graph");
    write_pt2_without_weights(program, path);
    const Program again = read_pt2_without_weights(path);
    EXPECT_EQ(again.graph, program.graph) << name;
    for (const Input& input : program.graph.inputs) {
      if (input.kind == InputKind::kUser) continue;
      const TensorData& was = program.weights.at(input.target);
      const TensorData& is = again.weights.at(input.target);
      ASSERT_EQ(is.byte_count, was.byte_count) << name << input.target;
      if (was.byte_count == 0) continue;
      const bool kept = input.kind == InputKind::kConstant || !input.persistent;
      const std::string zeros(was.byte_count, '\0');
      const void* const expected =
          kept ? static_cast<const void*>(was.bytes.get()) : zeros.data();
      EXPECT_EQ(std::memcmp(is.bytes.get(), expected, was.byte_count), 0)
          << name << input.target;
    }
  }
  const Program tied = read_pt2_without_weights(folder / "tied.graph");
  EXPECT_EQ(
      tied.weights.at("embed.weight").bytes.get(),
      tied.weights.at("head.weight").bytes.get());
  EXPECT_LT(
      std::filesystem::file_size(folder / "cnn.graph"),
      std::filesystem::file_size(pt2_fixture("cnn")));
  EXPECT_THROW(read_pt2(folder / "cnn.graph"), Error);
}

TEST(WritePt2, ExtraFilesGoAlongWhereTorchExportLooksForThem) {
  const Pt2Folder folder;
  const auto path = folder / "net.pt2";
  write_pt2(
      read_pt2(pt2_fixture("cnn")), path, {{"schema.json", "{\"a\": 1}"}});
  EXPECT_EQ(read_pt2_extra(path, "schema.json"), "{\"a\": 1}");
  EXPECT_EQ(read_pt2_extra(path, "other.json"), std::nullopt);
  const ZipFile zip(path, "test", "");
  EXPECT_NE(zip.find("net/extra/schema.json"), nullptr);
  EXPECT_EQ(read_pt2(path).graph, read_pt2(pt2_fixture("cnn")).graph);
}

TEST(WritePt2, WhatIsFrozenStaysFrozen) {
  const Pt2Folder folder;
  Program program = read_pt2(pt2_fixture("cnn"));
  for (Input& input : program.graph.inputs)
    if (input.target == "conv.weight") input.trainable = false;
  write_pt2(program, folder / "net.pt2");
  const Graph graph = read_pt2(folder / "net.pt2").graph;
  EXPECT_FALSE(graph.find_target("conv.weight")->trainable);
  EXPECT_TRUE(graph.find_target("head.weight")->trainable);
}

TEST(WritePt2, AProgramThatNeverWasAFileKeepsModuleAndSource) {
  const Pt2Folder folder;
  const Program program = plain_program();
  write_pt2(program, folder / "net.pt2");
  const Graph graph = read_pt2(folder / "net.pt2").graph;
  EXPECT_EQ(graph.nodes[0].module, "fc");
  EXPECT_EQ(graph.nodes[0].source, "net.py:3");
  EXPECT_EQ(graph.producer, "temper test");
  EXPECT_EQ(graph.calling.argument_names, (std::vector<std::string>{"x"}));
  EXPECT_FALSE(graph.calling.in_spec.empty());
  EXPECT_EQ(graph.symbols, program.graph.symbols);
}

TEST(WritePt2, AChangedModuleWinsOverWhatTheExporterNoted) {
  const Pt2Folder folder;
  Program program = read_pt2(pt2_fixture("cnn"));
  program.graph.nodes[0].module = "other.place";
  write_pt2(program, folder / "net.pt2");
  EXPECT_EQ(read_pt2(folder / "net.pt2").graph.nodes[0].module, "other.place");
}

TEST(WritePt2, AChangedSetOfInputsGetsAPlainCallingConvention) {
  const Pt2Folder folder;
  Program program = read_pt2(pt2_fixture("two_inputs"));
  program.graph.outputs.pop_back();
  const auto before = program.graph.calling;
  write_pt2(program, folder / "net.pt2");
  const auto after = read_pt2(folder / "net.pt2").graph.calling;
  EXPECT_EQ(after.in_spec, before.in_spec);
  EXPECT_EQ(
      after.out_spec, R"([1,{"children_spec":[],"context":null,"type":null}])");
}

TEST(WritePt2, AnUnsoundProgramIsNotWritten) {
  const Pt2Folder folder;
  Program program = plain_program();
  program.weights.clear();
  EXPECT_THROW(write_pt2(program, folder / "net.pt2"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "net.pt2"));
}

} // namespace
} // namespace temper::graph
