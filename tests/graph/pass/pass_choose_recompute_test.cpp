#include <gmock/gmock.h>

#include "temper/graph/cost/liveness.h"
#include "temper/graph/infer/infer.h"
#include "temper/model/zoo/zoo.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBatch = 32;

std::int64_t peak(const Program& program) {
  const Program training = switch_mode(program, true).program;
  const Symbols symbols = bind_batch(training.graph, kBatch);
  return liveness(training.graph, infer(training.graph, symbols), symbols)
      .train.bytes;
}

TEST(PassChooseRecompute, SavesAThirdAndMoreOfDeepNetworks) {
  for (const char* name : {"mobilenet_v2", "resnet18", "vit_tiny"}) {
    const Program program = model::build({.name = name, .image_size = 64});
    const Passed chosen = checked(
        [](const Program& p) { return choose_recompute(p, kBatch); }, program);
    EXPECT_LT(3 * peak(chosen.program), 2 * peak(program)) << name;
    EXPECT_THAT(chosen.report, HasSubstr("instead of")) << name;
  }
}

// No other level of the tree, taken by hand, does better.
TEST(PassChooseRecompute, TakesTheBestLevel) {
  const Program program =
      model::build({.name = "mobilenet_v2", .image_size = 64});
  const auto chosen = peak(choose_recompute(program, kBatch).program);
  for (const char* level : {"*", "features.*", "features.*.conv"})
    EXPECT_LE(chosen, peak(mark_recompute(program, {level}).program)) << level;
}

TEST(PassChooseRecompute, LeavesANetworkAloneThatHasNothingToSave) {
  const Program program =
      model::build({.name = "mlp", .image_size = 4, .widths = {16}});
  const Passed chosen = choose_recompute(program, kBatch);
  EXPECT_TRUE(same(chosen.program, program));
  EXPECT_EQ(chosen.report, "computing activations again would save no memory");
}

} // namespace
} // namespace temper::graph
