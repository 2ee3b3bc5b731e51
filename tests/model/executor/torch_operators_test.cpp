// What the pages of room graph declare against what this LibTorch says and the
// executor runs.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/effects.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

TEST(OperatorPages, AreThereForEveryStepThatTheExecutorHasOfItsOwn) {
  for (const auto* table :
       {&number_steps(),
        &direct_layers(),
        &direct_shapes(),
        &decomposed_steps()})
    for (const auto& [op, maker] : *table)
      EXPECT_NE(graph::find_operator(graph::op_name(op)), nullptr) << op;
}

// LibTorch's operators that have a page: "aten::relu_" of "aten.relu_.default".
struct Known {
  c10::OperatorHandle handle;
  std::string op;
  const graph::Operator* page;
};

std::vector<Known> known_operators() {
  std::vector<Known> found;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto handle = dispatcher.findSchema(name);
    const std::string overload =
        name.overload_name.empty() ? "default" : name.overload_name;
    const std::string op = "aten." + name.name.substr(6) + "." + overload;
    const auto* page = graph::find_operator(graph::op_name(op));
    if (handle && page != nullptr) found.push_back({*handle, op, page});
  }
  return found;
}

graph::Node bare_node(const Known& known) {
  graph::Node node;
  node.op = known.op;
  node.inputs = {{"self", graph::TensorName{"x"}, false}};
  node.outputs = {graph::TensorName{"y"}};
  return node;
}

TEST(OperatorPages, SayThatAResultIsAViewWhereTheSchemaSaysSo) {
  std::size_t views = 0;
  for (const Known& known : known_operators())
    for (const auto& result : known.handle.schema().returns()) {
      const auto* alias = result.alias_info();
      if (alias == nullptr || alias->isWrite()) continue;
      ++views;
      EXPECT_TRUE(graph::may_share_memory(bare_node(known))) << known.op;
    }
  EXPECT_GT(views, 30U);
}

TEST(OperatorPages, SayThatAnOperatorIsRandomWhereLibTorchSaysSo) {
  std::size_t random = 0;
  for (const Known& known : known_operators()) {
    if (!known.handle.hasTag(at::Tag::nondeterministic_seeded)) continue;
    ++random;
    EXPECT_NE(known.page->random, nullptr) << known.op;
  }
  EXPECT_GT(random, 10U);
}

} // namespace
} // namespace temper::model
