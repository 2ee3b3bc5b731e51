#include "temper/graph/ir/op_name.h"

#include <gtest/gtest.h>

namespace temper::graph {
namespace {

TEST(OpName, HasASpaceANameAndAnOverload) {
  const OpName op = op_name("aten.conv2d.padding");
  EXPECT_EQ(op.space, "aten");
  EXPECT_EQ(op.name, "conv2d");
  EXPECT_EQ(op.spelled, "conv2d");
  EXPECT_EQ(op.overload, "padding");
  EXPECT_FALSE(op.in_place);
  EXPECT_EQ(op_name("relu").name, "relu");
}

TEST(OpName, AnUnderscoreAtTheEndIsInPlace) {
  const OpName op = op_name("aten.relu_.default");
  EXPECT_EQ(op.name, "relu");
  EXPECT_EQ(op.spelled, "relu_");
  EXPECT_TRUE(op.in_place);
  EXPECT_TRUE(op_name("aten.__iand__.Tensor").in_place);
  EXPECT_FALSE(op_name("aten.__and__.Tensor").in_place);
  EXPECT_EQ(op_name("aten.__and__.Tensor").name, "__and__");
}

TEST(OpName, PythonsUnderscoreTellsAFunctionFromAKeyword) {
  const OpName op = op_name("_operator.and_");
  EXPECT_EQ(op.name, "and_");
  EXPECT_FALSE(op.in_place);
}

} // namespace
} // namespace temper::graph
