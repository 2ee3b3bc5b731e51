#include <gmock/gmock.h>

#include "temper/model/zoo/zoo.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunModel network() {
  RunModel made;
  made.program = model::build({.name = "resnet18", .image_size = 64});
  return made;
}

bool marked(const RunModel& model) {
  for (const auto& node : model.program->graph.nodes)
    if (node.recompute_segment >= 0) return true;
  return false;
}

constexpr std::uint64_t kPlenty = std::uint64_t{64} << 30;

TEST(Recompute, IsDoneWhenAskedForAndSaid) {
  config::Config config;
  RunModel model = network();
  apply_recompute(model, config, kPlenty);
  EXPECT_FALSE(marked(model));
  config.memory.recompute = "on";
  apply_recompute(model, config, kPlenty);
  EXPECT_TRUE(marked(model));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("instead of")));
}

TEST(Recompute, AutoWaitsUntilMemoryIsShort) {
  config::Config config;
  config.memory.recompute = "auto";
  RunModel model = network();
  apply_recompute(model, config, kPlenty);
  EXPECT_FALSE(marked(model));
  config.memory.budget.bytes = std::uint64_t{200} << 20;
  apply_recompute(model, config, kPlenty);
  EXPECT_TRUE(marked(model));
}

TEST(Recompute, AnOpaqueModelIsLeftAloneWithANote) {
  config::Config config;
  config.memory.recompute = "on";
  RunModel model;
  apply_recompute(model, config, kPlenty);
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("only graphs")));
}

} // namespace
} // namespace temper::train
