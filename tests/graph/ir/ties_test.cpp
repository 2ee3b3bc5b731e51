#include "temper/graph/ir/ties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "tests/graph/pt2/pt2_files.h"

namespace temper::graph {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TensorData filled(const TensorData& like, unsigned char with) {
  NewTensor made = make_tensor(like.dtype, like.sizes);
  std::memset(made.bytes, with, made.data.byte_count);
  return made.data;
}

TEST(Ties, AreFoundUnderEveryName) {
  EXPECT_THAT(
      tied_names(read_pt2(pt2_fixture("tied"))),
      ElementsAre(ElementsAre("embed.weight", "head.weight")));
  EXPECT_TRUE(tied_names(read_pt2(pt2_fixture("cnn"))).empty());
}

TEST(Ties, OneNameGivenIsAllOfThemReplaced) {
  for (const char* given : {"embed.weight", "head.weight"}) {
    Program program = read_pt2(pt2_fixture("tied"));
    const TensorData fresh = filled(program.weights.at(given), 3);
    replace_weights(program, {{given, fresh}});
    EXPECT_EQ(program.weights.at("embed.weight").bytes, fresh.bytes);
    EXPECT_EQ(program.weights.at("head.weight").bytes, fresh.bytes);
  }
}

TEST(Ties, EqualCopiesBecomeOneTensorAgain) {
  Program program = read_pt2(pt2_fixture("tied"));
  const TensorData like = program.weights.at("embed.weight");
  replace_weights(
      program,
      {{"embed.weight", filled(like, 3)}, {"head.weight", filled(like, 3)}});
  EXPECT_EQ(
      program.weights.at("embed.weight").bytes,
      program.weights.at("head.weight").bytes);
}

TEST(Ties, DifferentValuesForOneTensorAreRefused) {
  Program program = read_pt2(pt2_fixture("tied"));
  const TensorData like = program.weights.at("embed.weight");
  EXPECT_THAT(
      refusal([&] {
        replace_weights(
            program,
            {{"embed.weight", filled(like, 3)},
             {"head.weight", filled(like, 4)}});
      }),
      AllOf(
          HasSubstr("embed.weight and head.weight are one tensor"),
          HasSubstr("without tying")));
}

TEST(Ties, ATensorIsFrozenUnderAllItsNames) {
  const Program program = read_pt2(pt2_fixture("tied"));
  const Graph graph = freeze(program, {"embed.weight"}).program.graph;
  EXPECT_FALSE(graph.find_target("embed.weight")->trainable);
  EXPECT_FALSE(graph.find_target("head.weight")->trainable);
}

} // namespace
} // namespace temper::graph
