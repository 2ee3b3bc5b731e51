#include "temper/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "temper/base/text.h"

namespace temper::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Check> some_checks() {
  return {
      {"machine", "swap", "not in use", Verdict::ok, "", ""},
      {"machine", "heat", "heavy", Verdict::warn, "Let it cool.", "issue#1"},
      {"build", "BLAS", "slow", Verdict::bad, "Install another.", ""}};
}

TEST(Report, TextShowsEachRowAndItsAdvice) {
  const std::string text = to_text(some_checks(), {false, 80});
  EXPECT_THAT(text, HasSubstr("machine\n  ok    swap  not in use\n"));
  EXPECT_THAT(text, HasSubstr("  warn  heat  heavy\n"));
  EXPECT_THAT(text, HasSubstr("-> Let it cool. (issue#1)\n"));
  EXPECT_THAT(text, HasSubstr("\nbuild\n  bad   BLAS  slow\n"));
  EXPECT_THAT(
      text, HasSubstr("1 problem to fix before training, 1 warning.\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(Report, TextIsColouredOnlyWhenAsked) {
  EXPECT_THAT(to_text(some_checks(), {true, 80}), HasSubstr("\033[1;31mbad"));
}

TEST(Report, TextStaysWithinTheWidth) {
  std::vector<Check> checks = some_checks();
  checks[1].found = checks[1].advice =
      "many words that go on and on and need more than one line to be shown in "
      "full, whatever the width of the terminal may be today";
  for (const auto& line : split(to_text(checks, {false, 60}), '\n'))
    EXPECT_LE(line.size(), 60U) << line;
}

TEST(Report, ClosingLineFollowsTheWorstVerdict) {
  auto checks = some_checks();
  EXPECT_EQ(worst(checks), Verdict::bad);
  checks.pop_back();
  EXPECT_EQ(worst(checks), Verdict::warn);
  EXPECT_THAT(to_text(checks, {}), HasSubstr("Fit to train, with 1 warning."));
  checks.pop_back();
  EXPECT_THAT(to_text(checks, {}), HasSubstr("Fit to train."));
  EXPECT_EQ(worst({}), Verdict::ok);
}

TEST(Report, JsonKeepsItsSchema) {
  const auto json =
      nlohmann::json::parse(to_json(some_checks(), machine::Machine{}));
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(json.at("verdict"), "bad");
  ASSERT_EQ(json.at("checks").size(), 3U);
  for (const auto& row : json.at("checks"))
    for (const char* key :
         {"group", "name", "found", "verdict", "advice", "source"})
      EXPECT_TRUE(row.at(key).is_string()) << key;
  EXPECT_EQ(json.at("checks")[1].at("source"), "issue#1");
  EXPECT_TRUE(json.at("machine").at("cpu").is_object());
}

TEST(Report, JsonSurvivesBytesThatAreNotUtf8) {
  const auto checks =
      std::vector<Check>{{"python", "\xff", "\xc3(", Verdict::ok, "", ""}};
  std::string text;
  ASSERT_NO_THROW(text = to_json(checks, machine::Machine{}));
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
}

} // namespace
} // namespace temper::doctor
