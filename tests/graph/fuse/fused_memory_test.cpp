// What fused groups keep, counted by hand.
#include "temper/graph/fuse/fused_memory.h"

#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/cost/liveness.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

constexpr std::int64_t kFour = 4; // bytes of a float
constexpr std::int64_t kState = 16; // of a channel's normalisation

Liveness life_of(const Graph& graph, std::int64_t batch, bool fused) {
  const Symbols symbols = bind_batch(graph, batch);
  LivenessOptions how;
  how.channels_last = true;
  if (fused) how.groups = find_fusions(graph).groups;
  return liveness(graph, infer(graph, symbols), symbols, how);
}

Graph training(const Blueprint& made) {
  Program program;
  program.graph = made.graph;
  return switch_mode(program, true).program.graph;
}

// x -> 3x3 of `out` channels, BatchNorm, ReLU, twice.
Graph convolution_after_convolution(std::int64_t out) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 8, 8});
  for (const char* name : {"a", "b"}) {
    x = b.conv2d(
        name, x, {.out = out, .kernel = 3, .padding = 1, .bias = false});
    x = b.relu("", b.batch_norm(cat(name, "_norm"), x));
  }
  return training(b.finish(x));
}

// Each layer keeps what it read, what its convolution wrote and four numbers a
// channel. The first one read the batch, which is the caller's.
TEST(FusedMemory, OfAConvolutionIsWhatItReadAndWrote) {
  const Graph graph = convolution_after_convolution(16);
  const std::int64_t value = 5 * 16 * 8 * 8 * kFour;
  const Liveness fused = life_of(graph, 5, true);
  EXPECT_EQ(fused.total_saved_bytes, 3 * value + 2 * 16 * kState);
  EXPECT_GT(life_of(graph, 5, false).total_saved_bytes, 4 * value);
  // Without a backward pass the activation is written over the convolution's
  // result: at the second layer two values are there, and its state.
  EXPECT_EQ(fused.eval.bytes, fused.input_bytes + 2 * value + 16 * kState);
}

// x -> ReLU -> a basic block of 16 channels, with a shortcut or without.
Graph basic_block(bool shortcut) {
  Builder b("test");
  const Value x = b.relu("", b.input("x", DType::kFloat32, {16, 8, 8}));
  const auto layer = [&](const char* name, const Value& of, int kernel) {
    return b.batch_norm(
        cat(name, "_norm"),
        b.conv2d(
            name,
            of,
            {.out = 16,
             .kernel = kernel,
             .padding = kernel / 2,
             .bias = false}));
  };
  const Value y = layer("b", b.relu("", layer("a", x, 3)), 3);
  const Value sum = b.add("", y, shortcut ? layer("c", x, 1) : x);
  return training(b.finish(b.relu("", sum)));
}

// A block keeps x, which the ReLU before it keeps anyway, and what each of its
// convolutions wrote; nothing that lies between them.
TEST(FusedMemory, OfABlockIsWhatItsConvolutionsWrote) {
  const std::int64_t value = 5 * 16 * 8 * 8 * kFour;
  const std::int64_t state = 16 * kState;
  for (const int convolutions : {2, 3}) {
    const Graph graph = basic_block(convolutions == 3);
    const auto groups = find_fusions(graph).groups;
    ASSERT_EQ(groups.size(), 1U);
    ASSERT_EQ(groups[0].kind, FusionKind::kResidualBlock);
    const Liveness fused = life_of(graph, 5, true);
    EXPECT_EQ(fused.total_saved_bytes, value + convolutions * (value + state));
    // Without a backward pass x and two results are there at once.
    EXPECT_EQ(
        fused.eval.bytes, fused.input_bytes + 3 * value + convolutions * state);
  }
}

// A batch of one pixel has no variance: LibTorch says so, node by node.
TEST(FusedMemory, OfAGroupThatIsNotTakenIsLibtorchs) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3, 1, 1});
  x = b.conv2d("a", x, {.out = 4, .kernel = 1, .bias = false});
  x = b.relu("", b.batch_norm("norm", x));
  const Graph graph = training(b.finish(x));
  ASSERT_EQ(find_fusions(graph).groups.size(), 1U);
  EXPECT_EQ(
      life_of(graph, 1, true).total_saved_bytes,
      life_of(graph, 1, false).total_saved_bytes);
  EXPECT_NE(
      life_of(graph, 3, true).total_saved_bytes,
      life_of(graph, 3, false).total_saved_bytes);
}

// Rows of numbers: ReLU's result tells its slope, GELU's does not.
TEST(FusedMemory, OfALinearLayerDependsOnItsActivation) {
  const auto kept = [](bool relu) {
    Builder b("test");
    Value x = b.input("x", DType::kFloat32, {10});
    x = b.linear("a", x, {.out = 20});
    x = relu ? b.relu("", x) : b.gelu("", x);
    x = b.linear("b", x, {.out = 3});
    return life_of(training(b.finish(x)), 6, true).total_saved_bytes;
  };
  EXPECT_EQ(kept(true), 6 * 20 * kFour);
  EXPECT_EQ(kept(false), 2 * 6 * 20 * kFour);
}

} // namespace
} // namespace temper::graph
