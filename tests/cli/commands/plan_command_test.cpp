// `temper plan`, and the plan that `temper train --dry-run` shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "tests/cli/run_temper.h"
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
  ProcessResult about_cnn(
      std::vector<std::string> all,
      const std::vector<std::string>& more = {},
      const std::string& device = "") const {
    // Long enough to be worth measuring, and never run.
    for (const char* each :
         {"--model",
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
          "device=cpu"})
      all.emplace_back(each);
    all.insert(all.end(), more.begin(), more.end());
    return temper(all, device);
  }
  ProcessResult dry_run(
      const std::vector<std::string>& more = {},
      const std::string& device = "") const {
    return about_cnn({"train", "--dry-run"}, more, device);
  }

  tests::TempFolder folder_;
};

// Whatever else this machine does meanwhile.
TEST_F(PlanCommand, AMeasuredPlanIsListedShownAndForgotten) {
  EXPECT_THAT(temper({"plan", "show"}).out, Not(HasSubstr("cnn")));
  const auto measured = about_cnn({"plan", "measure", "--even-busy"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  EXPECT_THAT(
      measured.out,
      AllOf(HasSubstr("tried"), HasSubstr("remembered for the next run")));
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

// With every plan, but not with one of them.
TEST_F(PlanCommand, TheTuningOfLoadersIsForgottenWithAllPlans) {
  std::filesystem::create_directories(folder_ / "cache");
  const auto file = folder_ / "cache/loader.json";
  std::ofstream(file) << "{}";
  EXPECT_EQ(temper({"plan", "clear", "3f2a"}).code, 1);
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(
      temper({"plan", "clear"}).out,
      "0 plans and the loader's tuning forgotten\n");
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(temper({"plan", "clear"}).out, "0 plans forgotten\n");
}

TEST_F(PlanCommand, ADryRunMeasuresAndLeavesNoFile) {
  const auto dry = dry_run();
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("measured in"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache" / "plans"));
  EXPECT_THAT(temper({"plan", "show"}).out, HasSubstr("no plans"));
}

TEST_F(PlanCommand, APlanIsMeasuredForAConfigOfOnesOwn) {
  const auto file = folder_.write(
      "net.toml",
      "device = \"cpu\"\nthreads = 1\n[data]\nsource = "
      "\"synthetic:images=64,size=8\"\n[plan]\nseconds = 2\n");
  const auto measured =
      temper({"plan", "measure", file.string(), "--model", "cnn", "--json"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  const auto plan = nlohmann::json::parse(measured.out);
  EXPECT_TRUE(plan["tried"][0]["step_s"].is_number());
  EXPECT_TRUE(plan["tried"][0]["spread"].is_number());
  const auto wrong = temper({"plan", "measure", "--set", "train.bach=3"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("train.batch"));
}

TEST_F(PlanCommand, AnUnknownKeyAndAnUnknownActionAreRefused) {
  const auto key = temper({"plan", "show", "feed"});
  EXPECT_EQ(key.code, 1);
  EXPECT_THAT(key.err, HasSubstr("begins with feed"));
  const auto action = temper({"plan", "draw"});
  EXPECT_EQ(action.code, 2);
  EXPECT_THAT(action.err, HasSubstr("show, measure or clear"));
}

TEST_F(PlanCommand, EveryFieldOfThePlanHasAValueAndAReason) {
  const auto shown = dry_run({"--set", "loader.workers=1"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const char* field :
       {"device", "layout", "threads", "workers", "precision", "micro"})
    EXPECT_THAT(shown.out, HasSubstr(field));
  EXPECT_THAT(shown.out, HasSubstr("as asked"));
}

TEST_F(PlanCommand, TheVariableGoesOverTheConfigAndIsNamedInErrors) {
  EXPECT_THAT(
      dry_run({"--set", "device=auto"}, "cpu").out,
      HasSubstr("device = \"cpu\""));
  const auto wrong = dry_run({}, "gpo");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("TEMPER_DEVICE"));
}

} // namespace
} // namespace temper
