#include "temper/train/setup/parameter_table.h"

#include <gmock/gmock.h>

#include "temper/graph/pass/passes.h"
#include "temper/model/zoo/zoo.h"

namespace temper::train {
namespace {

using testing::HasSubstr;

std::vector<std::string> modules(const std::vector<ParameterRow>& table) {
  std::vector<std::string> names;
  for (const ParameterRow& row : table)
    names.push_back(row.module);
  return names;
}

TEST(ParameterTable, HasTheOutermostModulesInTheModelsOrder) {
  const auto program = model::build({.name = "resnet18", .classes = 10});
  const auto table = parameter_table(program.graph, {});
  // layer4 holds most of it, and is shown in its parts as all are.
  EXPECT_EQ(modules(table).front(), "conv1.weight");
  std::int64_t all = 0;
  for (const ParameterRow& row : table)
    all += row.parameters;
  EXPECT_EQ(all, 11'181'642);
}

TEST(ParameterTable, FrozenParametersCostTheirWeightsAlone) {
  auto program = model::build({.name = "resnet18", .classes = 10});
  program = graph::freeze(program, {"layer*"}).program;
  config::Config config; // adamw
  for (const ParameterRow& row : parameter_table(program.graph, config)) {
    const bool frozen = row.module.rfind("layer", 0) == 0;
    EXPECT_EQ(row.trained, frozen ? 0 : row.parameters) << row.module;
    EXPECT_EQ(
        row.bytes,
        static_cast<std::uint64_t>(row.parameters) * (frozen ? 4 : 16))
        << row.module;
  }
}

TEST(ParameterTable, BytesFollowTheOptimizer) {
  config::Config config;
  EXPECT_EQ(bytes_per_parameter(config, true), 16U);
  config.optimizer.moments = "bf16";
  EXPECT_EQ(bytes_per_parameter(config, true), 12U);
  config.optimizer.name = "sgd";
  config.optimizer.momentum = 0;
  EXPECT_EQ(bytes_per_parameter(config, true), 8U);
  config.train.ema = 0.99;
  EXPECT_EQ(bytes_per_parameter(config, true), 12U);
  EXPECT_EQ(bytes_per_parameter(config, false), 4U);
}

TEST(ParameterTable, EndsWithTheSumAndItsReason) {
  const auto program = model::build({.name = "mlp", .image_size = 4});
  const auto table = parameter_table(program.graph, {});
  const std::string text = to_text(table, {});
  EXPECT_THAT(text, HasSubstr("  all"));
  EXPECT_THAT(text, HasSubstr("16 bytes a trained parameter"));
}

} // namespace
} // namespace temper::train
