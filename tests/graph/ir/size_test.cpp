#include "temper/graph/ir/size.h"

#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::graph {
namespace {

const std::string kBatchSymbol = "Symbol('s77', positive=True, integer=True)";

std::int64_t at_batch_6(const std::string& expression) {
  return evaluate({0, expression}, {{"s77", 6}, {"s1", 5}});
}

TEST(Size, ANumberIsItself) {
  EXPECT_EQ(evaluate(7, {}), 7);
  EXPECT_TRUE(symbols_of(7).empty());
}

TEST(Size, ExpressionsAreWorkedOut) {
  EXPECT_EQ(at_batch_6(kBatchSymbol), 6);
  EXPECT_EQ(at_batch_6("Mul(Integer(49), " + kBatchSymbol + ")"), 294);
  EXPECT_EQ(
      at_batch_6("Add(Mul(Integer(2), " + kBatchSymbol + "), Integer(-1))"),
      11);
  EXPECT_EQ(at_batch_6("FloorDiv(" + kBatchSymbol + ", Integer(4))"), 1);
  EXPECT_EQ(at_batch_6("CeilDiv(" + kBatchSymbol + ", Integer(4))"), 2);
  EXPECT_EQ(at_batch_6("Mod(" + kBatchSymbol + ", Integer(4))"), 2);
  EXPECT_EQ(at_batch_6("Pow(" + kBatchSymbol + ", Integer(2))"), 36);
  EXPECT_EQ(
      at_batch_6("Max(Integer(3), Symbol('s1'), " + kBatchSymbol + ")"), 6);
  EXPECT_EQ(
      at_batch_6(
          "torch.utils._sympy.functions.FloorDiv(" + kBatchSymbol + ", 5)"),
      1);
}

TEST(Size, DivisionRoundsDownAsPythonDoes) {
  const std::string below = "Add(FloorDiv(Integer(-7), Integer(2)), 10)";
  EXPECT_EQ(evaluate({0, below}, {}), 6);
  EXPECT_EQ(evaluate({0, "Mod(Integer(-7), Integer(4))"}, {}), 1);
  EXPECT_EQ(evaluate({0, "Add(CeilDiv(Integer(-7), 2), 10)"}, {}), 7);
}

TEST(Size, ItsSymbolsAreFound) {
  const Size size{
      0, "Mul(Symbol('s1'), FloorDiv(" + kBatchSymbol + ", Integer(2)))"};
  EXPECT_EQ(symbols_of(size), (std::vector<std::string>{"s1", "s77"}));
}

TEST(Size, WhatCannotBeWorkedOutIsAnError) {
  const std::vector<std::string> bad{
      "Symbol('s9')",
      "Symbol('s77'",
      "Symbol(s77)",
      "Mul(Integer(2)",
      "Integer(2) + 1",
      "Integer(two)",
      "Integer(99999999999999999999)",
      "FloorDiv(Integer(1), Integer(0))",
      "Sin(Integer(1), Integer(1))",
      "Floor(Integer(1))",
      "Pow(Integer(2), Integer(-1))",
      "Pow(Integer(10), Integer(40))",
      "Mul(Integer(4611686018427387904), Integer(4))",
      "Integer(-3)"};
  for (const std::string& text : bad)
    EXPECT_THROW(at_batch_6(text), Error) << text;
}

TEST(Size, DeepNestingEndsWithAnErrorAndNotTheStack) {
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "Add(";
  EXPECT_THROW(at_batch_6(deep), Error);
}

TEST(Size, ALinearSizeIsWhatItSays) {
  const Size size = linear_size("s77", 2, 49, 1);
  EXPECT_EQ(size.value, 99);
  EXPECT_EQ(evaluate(size, {{"s77", 10}}), 491);
  EXPECT_EQ(linear_size("s77", 2, 0, 5), Size(5));
  EXPECT_EQ(linear_size("s77", 2, 1, 0), Size(2, kBatchSymbol));
}

TEST(Size, ItReadsWell) {
  EXPECT_EQ(size_text(12), "12");
  EXPECT_EQ(size_text(linear_size("s77", 2, 1, 0)), "s77");
  EXPECT_EQ(size_text(linear_size("s77", 2, 49, 0)), "49*s77");
  EXPECT_EQ(size_text(linear_size("s77", 2, 1, 3)), "s77+3");
}

} // namespace
} // namespace temper::graph
