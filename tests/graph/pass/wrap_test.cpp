#include "temper/graph/pass/wrap.h"

#include <gmock/gmock.h>

#include <cmath>

#include "temper/graph/infer/infer.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

using testing::HasSubstr;

// [N, 3] of numbers to [N, 2].
Program small_table() {
  Builder b("test");
  const Value x = b.input("x", DType::kFloat32, {3});
  return with_weights(b.finish(b.linear("fc", x, {.out = 2})).graph);
}

// [N, 2, 3, 3] of pixels to [N, 2].
Program small_picture() {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {2, 3, 3});
  x = b.conv2d("conv", x, {.out = 2, .kernel = 3});
  return with_weights(b.finish(b.flatten("", x, 1)).graph);
}

Passed wrapped(
    const Program& program,
    const InputSteps& before,
    const OutputSteps& after) {
  return checked(
      [&](const Program& p) { return wrap_model(p, before, after); }, program);
}

std::vector<double> softmax(std::vector<double> scores, std::size_t classes) {
  for (std::size_t row = 0; row < scores.size(); row += classes) {
    double sum = 0;
    for (std::size_t i = 0; i < classes; ++i)
      sum += std::exp(scores[row + i]);
    for (std::size_t i = 0; i < classes; ++i)
      scores[row + i] = std::exp(scores[row + i]) / sum;
  }
  return scores;
}

Array bytes(std::vector<std::int64_t> sizes) {
  Array array = make_array(std::move(sizes));
  for (std::size_t i = 0; i < array.values().size(); ++i)
    array.values()[i] = static_cast<double>(i * 37 % 256);
  return array;
}

TEST(Wrap, PixelsGoInAndProbabilitiesComeOut) {
  const Program program = small_picture();
  const Passed passed = wrapped(
      program,
      {.pixels = true, .mean = {0.4, 0.5}, .deviation = {0.2, 0.25}},
      {.step = OutputStep::kSoftmax});
  const TensorMeta& input = passed.program.graph.meta("x");
  EXPECT_EQ(input.dtype, DType::kUint8);
  EXPECT_EQ(input.sizes[1], Size(3));
  EXPECT_EQ(input.sizes[3], Size(2));

  const Array raw = bytes({2, 3, 3, 2});
  Array by_hand = make_array({2, 2, 3, 3});
  const double mean[] = {static_cast<float>(0.4), 0.5};
  const double deviation[] = {static_cast<float>(0.2), 0.25};
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t at = 0; at < 9; ++at)
        by_hand.values()[(n * 2 + c) * 9 + at] =
            (raw.values()[(n * 9 + at) * 2 + c] / 255 - mean[c]) / deviation[c];
  const auto expected = softmax(Evaluation(program, by_hand).output(), 2);
  const auto given = Evaluation(passed.program, raw).output();
  EXPECT_LT(furthest(given, expected), 1e-12);
  EXPECT_EQ(
      passed.report,
      "preprocessing inside: pixels from 0 to 255 in, probabilities out");
}

TEST(Wrap, EveryDeclaredShapeIsWhatTheOperatorsGive) {
  const Passed passed = wrapped(
      small_picture(),
      {.pixels = true, .mean = {0.5}, .deviation = {0.25}},
      {.step = OutputStep::kSoftmax});
  const Graph& graph = passed.program.graph;
  const Symbols symbols = bind_batch(graph, 5);
  const Inferred known = infer(graph, symbols);
  for (const auto& [value, inferred] : known.tensors) {
    std::vector<std::int64_t> declared;
    for (const Size& size : graph.meta(value).sizes)
      declared.push_back(evaluate(size, symbols));
    EXPECT_EQ(declared, inferred.sizes) << value;
    EXPECT_EQ(graph.meta(value).dtype, inferred.dtype) << value;
  }
}

TEST(Wrap, ColumnsAreStandardisedAndTargetsComeInTheirOwnUnits) {
  const Program program = small_table();
  const Passed passed = wrapped(
      program,
      {.mean = {100, -3, 0}, .deviation = {50, 0.5, 1}, .fill = {125, -3, 0}},
      {.step = OutputStep::kScale, .mean = {1000, 7}, .deviation = {20, 2}});
  Array raw = make_array({2, 3});
  raw.values() = {150, -3.5, 1, std::nan(""), -2.5, 0};
  Array by_hand = make_array({2, 3});
  by_hand.values() = {1, -1, 1, 0.5, 1, 0}; // what is missing is filled in
  auto expected = Evaluation(program, by_hand).output();
  for (std::size_t row = 0; row < 2; ++row) {
    expected[row * 2] = expected[row * 2] * 20 + 1000;
    expected[row * 2 + 1] = expected[row * 2 + 1] * 2 + 7;
  }
  EXPECT_LT(furthest(Evaluation(passed.program, raw).output(), expected), 1e-9);
  EXPECT_EQ(
      passed.report,
      "preprocessing inside: raw numbers in, the target's own units out");
}

TEST(Wrap, ASoftmaxThatIsThereAlreadyIsNotDoubled) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3});
  x = b.linear("fc", x, {.out = 2});
  const Program soft =
      with_weights(b.finish(b.node(
                                "",
                                "aten.softmax.int",
                                {{"self", TensorName{x.name}, false},
                                 {"dim", std::int64_t{1}, false}}))
                       .graph);
  const Passed passed = wrapped(soft, {}, {.step = OutputStep::kSoftmax});
  EXPECT_EQ(nodes_of(passed.program.graph, "softmax").size(), 1U);
}

// Trained to name one class of several, it gave scores, whatever they end in.
TEST(Wrap, SigmoidsOfOneClassAmongSeveralAreScores) {
  Builder b("test");
  Value x = b.input("x", DType::kFloat32, {3});
  x = b.linear("fc", x, {.out = 2});
  const Program net =
      with_weights(b.finish(b.node(
                                "",
                                "aten.sigmoid.default",
                                {{"self", TensorName{x.name}, false}}))
                       .graph);
  const Passed one = wrapped(net, {}, {.step = OutputStep::kSoftmax});
  EXPECT_EQ(nodes_of(one.program.graph, "softmax").size(), 1U);
  const Passed several = wrapped(net, {}, {.step = OutputStep::kSigmoid});
  EXPECT_EQ(nodes_of(several.program.graph, "sigmoid").size(), 1U);
}

TEST(Wrap, EachOutputOfSeveralLabelsIsAProbability) {
  const Program program = small_table();
  const Passed passed = wrapped(program, {}, {.step = OutputStep::kSigmoid});
  const Array x = random_input({2, 3});
  auto expected = Evaluation(program, x).output();
  for (double& value : expected)
    value = 1 / (1 + std::exp(-value));
  EXPECT_LT(furthest(Evaluation(passed.program, x).output(), expected), 1e-12);
}

TEST(Wrap, WhatDoesNotFitIsRefusedWithAWayOut) {
  EXPECT_THAT(
      refusal_of([] { wrap_model(small_table(), {.pixels = true}, {}); }),
      HasSubstr("not images"));
  EXPECT_THAT(
      refusal_of([] {
        wrap_model(small_table(), {.mean = {1, 2}, .deviation = {1, 1}}, {});
      }),
      HasSubstr("scaled with 2 means"));
  EXPECT_THAT(
      refusal_of([] {
        wrap_model(
            small_table(),
            {},
            {.step = OutputStep::kScale,
             .mean = {1, 2, 3},
             .deviation = {1, 1, 1}});
      }),
      HasSubstr("Export it without --with-preprocessing"));
}

} // namespace
} // namespace temper::graph
