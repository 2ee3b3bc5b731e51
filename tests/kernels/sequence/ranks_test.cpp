#include "temper/kernels/sequence/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace {

// Small whole numbers as scores, so that many are equal, and a few that are
// not finite.
struct Scored {
  std::vector<float> scores;
  std::vector<std::int64_t> labels;
  RankedRows rows;

  Scored(std::int64_t count, std::int64_t classes, std::int64_t top) {
    std::mt19937 random(static_cast<unsigned>(count * 31 + classes));
    const std::int64_t stride = classes + 3;
    scores.resize(static_cast<std::size_t>(count * stride));
    for (float& score : scores)
      score = static_cast<float>(random() % 7);
    for (std::int64_t i = 0; i < count; ++i)
      labels.push_back(static_cast<std::int64_t>(random()) % classes);
    const float odd[] = {
        std::nanf(""),
        std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()};
    for (std::int64_t i = 0; i < count; i += 11)
      scores[static_cast<std::size_t>(
          i * stride + static_cast<std::int64_t>(random()) % classes)] =
          odd[i % 3];
    rows.rows = count;
    rows.classes = classes;
    rows.scores = scores.data();
    rows.stride = stride;
    rows.labels = labels.data();
    rows.top = top;
  }
};

RightRows counted_one_by_one(const RankedRows& r) {
  RightRows right;
  for (std::int64_t i = 0; i < r.rows; ++i) {
    const float* x = r.scores + i * r.stride;
    std::int64_t above = 0;
    bool finite = true;
    for (std::int64_t c = 0; c < r.classes; ++c) {
      finite = finite && std::isfinite(x[c]);
      const float own = x[r.labels[i]];
      above += x[c] > own || (x[c] == own && c < r.labels[i]);
    }
    right.best += finite && above < 1;
    right.among_top += finite && above < r.top;
  }
  return right;
}

TEST(Ranks, CountWhatALoopCounts) {
  set_thread_count([] { return 3; });
  for (const Target target : runnable_targets()) {
    SCOPED_TRACE(name_of(target));
    choose_target(target);
    for (const std::int64_t classes : {1, 2, 10, 16, 33, 256, 1001}) {
      SCOPED_TRACE(classes);
      const Scored scored(700, classes, classes < 5 ? 1 : 5);
      const RightRows expected = counted_one_by_one(scored.rows);
      const RightRows found = count_right(scored.rows);
      EXPECT_TRUE(found.labels_in_range);
      EXPECT_EQ(found.best, expected.best);
      EXPECT_EQ(found.among_top, expected.among_top);
      EXPECT_GT(expected.among_top, 0);
      EXPECT_LT(expected.best, 700);
    }
  }
  choose_fastest_target();
  set_thread_count(nullptr);
}

TEST(Ranks, ALabelOutOfRangeIsTold) {
  for (const std::int64_t label : {-1, 10}) {
    Scored scored(20, 10, 5);
    scored.labels[13] = label;
    EXPECT_FALSE(count_right(scored.rows).labels_in_range);
  }
}

} // namespace
} // namespace temper::kernels
