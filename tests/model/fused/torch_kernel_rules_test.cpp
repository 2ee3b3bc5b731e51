// What the graph's rules say that kernels compute, they compute: a group that
// its op refused would run on LibTorch, and nobody would know.
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"
#include "temper/model/fused/make_fused.h"
#include "temper/model/zoo/zoo.h"

namespace temper::model {
namespace {

at::Tensor tensor_like(const graph::TensorMeta& meta) {
  std::vector<std::int64_t> sizes;
  for (const graph::Size& size : meta.sizes) {
    graph::Symbols symbols;
    for (const std::string& symbol : graph::symbols_of(size))
      symbols[symbol] = 2;
    sizes.push_back(graph::evaluate(size, symbols));
  }
  return at::ones(sizes);
}

// A block that is too large for one kernel is computed by its parts.
void expect_group_taken(
    const graph::Graph& graph,
    const graph::Fusion& group,
    const std::string& what) {
  const OpPointer op = make_fused(group);
  ASSERT_NE(op, nullptr) << what << " at " << group.output;
  FusedOp::Tensors inputs;
  for (const std::string& value : group.inputs)
    inputs.push_back(
        value.empty() ? at::Tensor() : tensor_like(graph.meta(value)));
  if (op->takes(inputs)) return;
  EXPECT_FALSE(group.parts.empty()) << what << " at " << group.output;
  for (const graph::Fusion& part : group.parts)
    expect_group_taken(graph, part, what);
}

void expect_taken(const graph::Graph& graph, const std::string& what) {
  for (const bool alone : {false, true}) {
    graph::FusionOptions options;
    options.norms_stay_alone = alone;
    for (const graph::Fusion& group :
         graph::find_fusions(graph, options).groups)
      expect_group_taken(graph, group, what);
  }
}

TEST(KernelRules, EveryGroupOfTheZooIsTaken) {
  for (const char* name :
       {"mobilenet_v2",
        "resnet18",
        "resnet50",
        "cnn",
        "mlp",
        "vit_tiny",
        "gpt_tiny"}) {
    ZooOptions options;
    options.name = name;
    const graph::Program program = build(options);
    for (const bool training : {true, false})
      expect_taken(
          graph::switch_mode(program, training).program.graph,
          cat(name, training ? " in training" : " in evaluation"));
  }
}

// Odd sizes, whichever side of a rule they are on.
TEST(KernelRules, EveryGroupOfUnusualConvolutionsIsTaken) {
  for (const std::int64_t kernel : {1, 2, 3, 4, 5, 7, 11})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t padding : {0, 1, 2, 3})
        for (const std::int64_t groups : {1, 2, 6})
          for (const std::int64_t pool : {0, 2, 3}) {
            graph::Builder b{"test"};
            const graph::Value x =
                b.input("x", graph::DType::kFloat32, {6, 24, 24});
            graph::Value y = b.relu(
                "r",
                b.conv2d(
                    "c",
                    x,
                    {.out = 12,
                     .kernel = kernel,
                     .stride = stride,
                     .padding = padding,
                     .groups = groups,
                     .bias = pool > 0}));
            if (pool > 0)
              y = b.max_pool2d("p", y, {.kernel = pool, .stride = pool});
            else
              y = b.batch_norm("n", y);
            expect_taken(
                b.finish(y).graph,
                cat(kernel,
                    "x",
                    kernel,
                    " stride ",
                    stride,
                    " padding ",
                    padding,
                    " groups ",
                    groups,
                    " pool ",
                    pool));
          }
}

} // namespace
} // namespace temper::model
