// `temper plan`, and the plan that `temper train --dry-run` shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_temper.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PlanCommand : public testing::Test {
 protected:
  ProcessResult temper(
      std::vector<std::string> arguments,
      const std::string& device = "") const {
    return tests::run_temper(
        {"env",
         cat("TEMPER_CACHE_DIR=", folder_.text("cache")),
         cat("TEMPER_DEVICE=", device)},
        arguments);
  }
  // Long enough to be worth measuring, and never run.
  ProcessResult dry_run(
      std::vector<std::string> more = {},
      const std::string& device = "") const {
    std::vector<std::string> all{
        "train",
        "--dry-run",
        "--model",
        "cnn",
        "--epochs",
        "10000",
        "--data",
        "synthetic:images=64,size=8",
        "--set",
        "threads=1",
        "--set",
        "plan.seconds=3",
        "--set",
        "device=cpu"};
    all.insert(all.end(), more.begin(), more.end());
    return temper(all, device);
  }

  tests::TempFolder folder_;
};

TEST_F(PlanCommand, a_measured_plan_is_listed_shown_and_forgotten) {
  EXPECT_THAT(temper({"plan", "show"}).out, Not(HasSubstr("cnn")));
  ASSERT_EQ(dry_run().code, 0);
  const auto listed = temper({"plan", "show", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  const auto plans = nlohmann::json::parse(listed.out);
  ASSERT_EQ(plans.size(), 1U) << listed.out;
  EXPECT_EQ(plans[0]["model"], "cnn");
  const std::string key = plans[0]["key"];
  EXPECT_THAT(
      temper({"plan", "show", key.substr(0, 6)}).out,
      AllOf(HasSubstr("layout"), HasSubstr("threads"), HasSubstr("cpu")));
  EXPECT_THAT(dry_run().out, HasSubstr("remembered"));
  EXPECT_THAT(temper({"plan", "clear"}).out, HasSubstr("1 plan forgotten"));
  EXPECT_THAT(temper({"plan", "show"}).out, Not(HasSubstr("cnn")));
}

TEST_F(PlanCommand, an_unknown_key_and_an_unknown_action_are_refused) {
  const auto key = temper({"plan", "show", "feed"});
  EXPECT_EQ(key.code, 1);
  EXPECT_THAT(key.err, HasSubstr("begins with feed"));
  const auto action = temper({"plan", "draw"});
  EXPECT_EQ(action.code, 2);
  EXPECT_THAT(action.err, HasSubstr("show or clear"));
}

TEST_F(PlanCommand, every_field_of_the_plan_has_a_value_and_a_reason) {
  const auto shown = dry_run({"--set", "loader.workers=1"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const char* field :
       {"device", "layout", "threads", "workers", "precision", "micro"})
    EXPECT_THAT(shown.out, HasSubstr(field));
  EXPECT_THAT(shown.out, HasSubstr("as asked"));
}

TEST_F(PlanCommand, the_variable_goes_over_the_config_and_is_named_in_errors) {
  EXPECT_THAT(
      dry_run({"--set", "device=auto"}, "cpu").out,
      HasSubstr("device = \"cpu\""));
  const auto wrong = dry_run({}, "gpo");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("TEMPER_DEVICE"));
}

} // namespace
} // namespace temper
