// Random small networks through random sequences of passes: whatever comes
// out validates, and passes that promise the same numbers keep them.
#include <gmock/gmock.h>

#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "tests/graph/evaluate.h"
#include "tests/graph/small_graphs.h"

namespace temper::graph {
namespace {

class RandomNet {
 public:
  explicit RandomNet(std::uint64_t seed) : random_(seed, 0, 0), b_("test") {}

  Program build() {
    Value x = b_.input("x", DType::kFloat32, {4, 5, 5});
    const int blocks = 1 + static_cast<int>(random_.below(4));
    for (int i = 0; i < blocks; ++i)
      x = block(cat("blocks.", i), x);
    x = b_.flatten("", b_.average_pool2d("pool", x), 1);
    if (random_.coin()) x = b_.dropout("drop", x, 0.3);
    return with_weights(b_.finish(b_.linear("fc", x, {.out = 3})).graph);
  }

 private:
  Value layer(const std::string& path, const Value& x) {
    Value y = b_.conv2d(
        path + ".conv",
        x,
        {.out = 4,
         .kernel = random_.coin() ? 3 : 1,
         .padding = 0,
         .groups = random_.coin() ? 4 : 1,
         .bias = random_.coin()});
    if (random_.below(4) > 0) y = b_.batch_norm(path + ".bn", y);
    if (random_.coin()) return b_.relu_(path + ".relu", y);
    return random_.coin() ? b_.relu(path + ".relu", y) : y;
  }

  Value block(const std::string& path, const Value& x) {
    if (b_.sizes(x)[1] < 3) return b_.relu(path, x);
    const Value y = layer(path + ".a", x);
    if (b_.sizes(y) != b_.sizes(x)) return y;
    return random_.coin() ? b_.add(path, y, x) : b_.add_(path, y, x);
  }

  RandomStream random_;
  Builder b_;
};

Program any_pass(const Program& program, RandomStream& random) {
  const Graph& graph = program.graph;
  switch (random.below(8)) {
    case 0:
      return checked(
                 [&](const Program& p) { return switch_mode(p, false); },
                 program)
          .program;
    case 1:
      return checked(
                 [&](const Program& p) { return switch_mode(p, true); },
                 program)
          .program;
    case 2:
      return checked(
                 [&](const Program& p) { return freeze(p, {"*.weight"}); },
                 program)
          .program;
    case 3:
      return checked(fold_batch_norm, program).program;
    case 4:
      return checked(remove_dead, program).program;
    case 5:
      return checked(
                 [&](const Program& p) { return mark_recompute(p, {"*"}); },
                 program)
          .program;
    case 6:
      return checked(
                 [&](const Program& p) { return freeze_statistics(p, {"*"}); },
                 program)
          .program;
    default:
      break;
  }
  // A cut somewhere, and one of its parts; or none where none is.
  const Node& node =
      graph.nodes[random.below(static_cast<std::uint32_t>(graph.nodes.size()))];
  try {
    const Split split = split_at(program, values_made(node).front());
    validate(split.prefix);
    validate(split.rest);
    return split.rest.graph.nodes.empty() || random.coin() ? split.prefix
                                                           : split.rest;
  } catch (const Error&) {
    return program;
  }
}

TEST(PassesProperty, WhateverPassesAreAppliedTheResultValidates) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 1, 0);
    Program program = RandomNet(seed).build();
    for (int i = 0; i < 8; ++i) {
      try {
        program = any_pass(program, random);
      } catch (const Error& error) {
        // A part may have no such names any more.
        EXPECT_THAT(error.what(), ::testing::HasSubstr("matches it"));
      }
      ASSERT_NO_THROW(validate(program));
    }
  }
}

TEST(PassesProperty, FoldingAndCleaningKeepTheNumbers) {
  const Array x = random_input({2, 4, 5, 5});
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = switch_mode(RandomNet(seed).build(), false).program;
    const std::vector<double> before = Evaluation(program, x).output();
    const Program folded = fold_batch_norm(program).program;
    EXPECT_LT(furthest(before, Evaluation(folded, x).output()), 1e-4);
    EXPECT_EQ(before, Evaluation(remove_dead(program).program, x).output());
  }
}

TEST(PassesProperty, EveryCutThatIsAllowedGivesTheSameNumbers) {
  const Array x = random_input({2, 4, 5, 5});
  int cuts = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Program program = switch_mode(RandomNet(seed).build(), false).program;
    const std::vector<double> whole = Evaluation(program, x).output();
    for (const Node& node : program.graph.nodes) {
      const std::string value = values_made(node).front();
      Split split;
      try {
        split = split_at(program, value);
      } catch (const Error&) {
        continue;
      }
      ++cuts;
      const Array middle = Evaluation(split.prefix, x).at(value);
      EXPECT_EQ(Evaluation(split.rest, middle).output(), whole) << value;
    }
  }
  EXPECT_GT(cuts, 100);
}

TEST(PassesProperty, ModesThereAndBackAreTheSameGraph) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Program program = RandomNet(seed).build();
    const Program eval = switch_mode(program, false).program;
    const Program train = switch_mode(eval, true).program;
    EXPECT_EQ(hash_of(train.graph), hash_of(program.graph)) << seed;
    EXPECT_EQ(
        hash_of(switch_mode(train, false).program.graph), hash_of(eval.graph))
        << seed;
  }
}

} // namespace
} // namespace temper::graph
