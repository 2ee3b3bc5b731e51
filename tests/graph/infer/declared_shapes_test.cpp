// Inferred shapes and strides against those that torch.export wrote into its
// files, for the example's batch and for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "temper/graph/infer/infer.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/storage_map.h"
#include "temper/graph/pt2/pt2.h"
#include "tests/graph/pt2/pt2_files.h"

namespace temper::graph {
namespace {

namespace fs = std::filesystem;
using testing::IsSubsetOf;

// A float that is no size, and a backward pass written out.
const std::set<std::string> kWithoutRule{
    "_operator.truediv",
    "aten.convolution_backward.default"};

std::set<std::string> operators_without_rule(
    const Graph& graph,
    const Inferred& known) {
  std::set<std::string> names;
  for (const auto& node : graph.nodes) {
    Inferred scratch = known;
    if (!infer_node(node, scratch)) names.insert(node.op);
  }
  return names;
}

Shape declared(const TensorMeta& meta, const Symbols& symbols) {
  Shape shape{meta.dtype, {}};
  for (const auto& size : meta.sizes)
    shape.sizes.push_back(evaluate(size, symbols));
  return shape;
}

void expect_declared(const Graph& graph, const Symbols& symbols) {
  const Inferred known = infer_by_rules(graph, symbols);
  for (const auto& [name, meta] : graph.tensors) {
    ASSERT_TRUE(known.tensors.count(name) > 0) << name;
    EXPECT_EQ(known.tensors.at(name), declared(meta, symbols)) << name;
  }
  for (const auto& [name, size] : graph.numbers)
    if (known.numbers.count(name) > 0) {
      EXPECT_EQ(known.numbers.at(name), evaluate(size, symbols)) << name;
    }
}

// How views lie over their base; strides of sizes of 1 mean nothing.
void expect_declared_strides(const Graph& graph, const Symbols& symbols) {
  const Inferred known = infer_by_rules(graph, symbols);
  PlacedValues attention;
  attention.fused_attention = true;
  const StorageMap places = place(graph, known, symbols, attention);
  for (const auto& [name, lay] : places.values) {
    const TensorMeta& meta = graph.tensors.at(name);
    for (std::size_t i = 0; i < meta.sizes.size(); ++i)
      if (known.tensors.at(name).sizes[i] > 1) {
        EXPECT_EQ(lay.strides[i], evaluate(meta.strides[i], symbols))
            << name << ", dimension " << i;
      }
  }
}

void expect_all(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const Graph graph = read_pt2(path).graph;
  const Symbols example = bind_batch(graph, 4);
  EXPECT_THAT(
      operators_without_rule(graph, infer_by_rules(graph, example)),
      IsSubsetOf(kWithoutRule));
  for (const std::int64_t batch : {2, 4, 7, 64})
    expect_declared(graph, bind_batch(graph, batch));
  expect_declared_strides(graph, example);
}

TEST(DeclaredShapes, AreThoseInferredForOurOwnExports) {
  for (const auto& name : pt2_fixtures())
    expect_all(pt2_fixture(name));
}

TEST(DeclaredShapes, AreThoseInferredForTheFiveSharedModels) {
  if (!fs::exists(shared_pt2()))
    GTEST_SKIP() << "the shared models are not here: " << shared_pt2();
  for (const auto& entry : fs::directory_iterator(shared_pt2()))
    if (entry.path().extension() == ".pt2") expect_all(entry.path());
}

// reference/export_families.py writes such a folder.
TEST(DeclaredShapes, AreThoseInferredForTorchvisionsFamilies) {
  const char* folder = std::getenv("TEMPER_EXPORTED_MODELS");
  if (folder == nullptr)
    GTEST_SKIP() << "TEMPER_EXPORTED_MODELS names no folder of exports";
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".pt2") expect_all(entry.path());
}

} // namespace
} // namespace temper::graph
