#include "temper/track/follow/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::track {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Target::Kind;

std::string refused(const std::string& uri) {
  try {
    parse_target(uri);
  } catch (const Error& error) {
    return error.what();
  }
  return "taken";
}

TEST(Target, AddressesAreReadAsMlflowReadsThem) {
  EXPECT_EQ(parse_target("sqlite:///a.db", "/x").path, "/x/a.db");
  EXPECT_EQ(parse_target("sqlite:////y/a.db", "/x").path, "/y/a.db");
  EXPECT_EQ(parse_target("file:///y/mlruns").path, "/y/mlruns");
  EXPECT_EQ(parse_target("file:mlruns", "/x").path, "/x/mlruns");
  EXPECT_EQ(parse_target("./mlruns", "/x").path, "/x/mlruns");
  EXPECT_EQ(parse_target("./mlruns", "/x").kind, Kind::file);
  const auto http = parse_target("https://ada:pw@host:5000/base/");
  EXPECT_EQ(http.kind, Kind::http);
  EXPECT_EQ(http.shown, "https://host:5000/base");
  EXPECT_EQ(parse_target("tensorboard:logs", "/x").path, "/x/logs");
}

TEST(Target, WhatCannotBeWrittenIsRefused) {
  EXPECT_THAT(refused("postgresql://u:secret@h/db"), HasSubstr("postgresql"));
  EXPECT_THAT(refused("postgresql://u:secret@h/db"), Not(HasSubstr("secret")));
  EXPECT_THAT(refused("databricks"), HasSubstr("Databricks"));
  EXPECT_THAT(refused("sqlite:///"), HasSubstr("names no file"));
  EXPECT_THAT(refused("http://"), HasSubstr("names no server"));
  EXPECT_THAT(refused("nonsense"), HasSubstr("nonsense"));
}

TEST(Target, AutoIsTheVariableOrBesideTheRuns) {
  Options options;
  auto targets = targets_of(options, "/x/runs/a");
  ASSERT_EQ(targets.size(), 1U);
  EXPECT_EQ(targets[0].shown, "sqlite:////x/mlflow.db");
  options.environment["MLFLOW_TRACKING_URI"] = "http://ada:pw@host";
  targets = targets_of(options, "/x/runs/a");
  EXPECT_EQ(targets[0].shown, "http://host");
  options.mlflow = "off";
  EXPECT_TRUE(targets_of(options, "/x/runs/a").empty());
  options.tensorboard = "on";
  EXPECT_EQ(
      targets_of(options, "/x/runs/a").at(0).path, "/x/runs/a/tensorboard");
  options.tensorboard = "/logs";
  EXPECT_EQ(targets_of(options, "/x/runs/a").at(0).path, "/logs/a");
}

TEST(Target, EachPlaceHasANameOfItsOwn) {
  EXPECT_EQ(parse_target("http://a").id(), parse_target("http://u:p@a/").id());
  EXPECT_NE(parse_target("http://a").id(), parse_target("http://b").id());
  EXPECT_THAT(
      parse_target("http://a").id(), testing::MatchesRegex("mlflow-[0-9a-f]+"));
}

TEST(Target, APasswordInTheConfigIsRefused) {
  Options options;
  options.mlflow = "https://ada:opensesame@host";
  try {
    check_options(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("opensesame")));
    EXPECT_THAT(error.hint(), HasSubstr("MLFLOW_TRACKING_PASSWORD"));
  }
}

TEST(Target, TheExperimentIsTheConfigsOrTheVariables) {
  Options options;
  const auto target = parse_target("http://a");
  EXPECT_EQ(follow_options(options, target).experiment, "temper");
  options.environment = {
      {"MLFLOW_EXPERIMENT_NAME", "named"},
      {"MLFLOW_EXPERIMENT_ID", "7"},
      {"MLFLOW_RUN_ID", "abc"}};
  EXPECT_EQ(follow_options(options, target).experiment, "named");
  EXPECT_EQ(follow_options(options, target).experiment_id, "7");
  EXPECT_EQ(follow_options(options, target).adopt, "abc");
  options.experiment = "mine";
  EXPECT_EQ(follow_options(options, target).experiment, "mine");
  EXPECT_EQ(follow_options(options, target).experiment_id, "");
}

} // namespace
} // namespace temper::track
