#include "temper/data/loader/finite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loader_samples.h"
#include "temper/base/log.h"
#include "tests/data/rows_source.h"

namespace temper::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// 20 sound rows but for those in `odd`, whose second input is that.
std::shared_ptr<RowsSource> rows(const std::map<int, float>& odd) {
  std::vector<Row> made;
  for (int i = 0; i < 20; ++i) {
    const auto found = odd.find(i);
    made.push_back(
        {{1.0F, found == odd.end() ? 2.0F : found->second, 3.0F},
         static_cast<float>(i)});
  }
  return std::make_shared<RowsSource>(made);
}

LoaderOptions options(BadPolicy bad) {
  LoaderOptions options;
  options.batch = 8;
  options.workers = 1;
  options.shuffle = true;
  options.bad = bad;
  return options;
}

TEST(Finite, TheNumberThatIsNotIsNamed) {
  SourceInfo info;
  info.input = Input::numbers;
  info.target = Target::numbers;
  Sample sample;
  sample.numbers = {1, 2, kNan};
  sample.target_numbers = {5};
  EXPECT_EQ(not_finite_text(info, sample), "input 3 of 3 is NaN");
  sample.numbers[2] = -kInfinity;
  EXPECT_EQ(not_finite_text(info, sample), "input 3 of 3 is infinite");
  sample.numbers[2] = 0;
  EXPECT_EQ(not_finite_text(info, sample), "");
  sample.target_numbers = {kNan};
  EXPECT_EQ(not_finite_text(info, sample), "target is NaN");
  info.target = Target::label; // what is left in the buffer says nothing
  EXPECT_EQ(not_finite_text(info, sample), "");
}

TEST(Finite, TheSamplesOfABatchThatSpoilItAreFound) {
  const auto source = rows({{7, kNan}, {13, kInfinity}});
  Loader loader(source, nullptr, options(BadPolicy::error));
  loader.start(0);
  std::vector<std::int64_t> found;
  while (const HostBatch* batch = loader.next()) {
    const auto odd = not_finite_samples(*batch);
    for (const auto& each : odd)
      found.push_back(batch->indices[each.slot]);
    const auto describe = [&](std::int64_t i) { return source->describe(i); };
    const std::string text = blame_text(*batch, odd, describe);
    EXPECT_EQ(text.empty(), odd.empty());
    if (odd.size() == 1) {
      EXPECT_THAT(text, HasSubstr("cannot be used: input 2 of 3 is"));
    }
  }
  std::sort(found.begin(), found.end());
  EXPECT_THAT(found, ElementsAre(7, 13));
}

TEST(Finite, ManySamplesAreCountedAndSomeNamed) {
  std::map<int, float> odd;
  for (int i = 0; i < 8; ++i)
    odd[i] = kNan;
  const auto source = rows(odd);
  auto in_order = options(BadPolicy::error);
  in_order.shuffle = false;
  Loader loader(source, nullptr, in_order);
  loader.start(0);
  const HostBatch* batch = loader.next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(
      blame_text(
          *batch,
          not_finite_samples(*batch),
          [&](std::int64_t i) { return source->describe(i); }),
      "8 of the batch's 8 samples have numbers that are NaN or infinite: row "
      "0, row 1, row 2, row 3, row 4 and 3 more.");
}

TEST(Finite, SuchSamplesAreLeftOutWhereBadOnesAre) {
  std::vector<std::string> lines;
  const auto before = log::set_sink(
      [&](log::Level, const std::string& line) { lines.push_back(line); });
  Loader loader(rows({{7, kNan}}), nullptr, options(BadPolicy::skip));
  loader.start(0);
  std::int64_t samples = 0;
  while (const HostBatch* batch = loader.next()) {
    samples += batch->size;
    EXPECT_TRUE(not_finite_samples(*batch).empty());
  }
  log::set_sink(before);
  EXPECT_EQ(samples, 19);
  EXPECT_THAT(lines, ElementsAre(HasSubstr("row 7: input 2 of 3 is NaN")));
}

} // namespace
} // namespace temper::data
