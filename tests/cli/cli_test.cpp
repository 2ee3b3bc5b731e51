// The command as a user runs it: a process, its output, its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "run_temper.h"
#include "temper/base/text.h"
#include "temper/libtorch/facts.h"

namespace temper {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ProcessResult temper(
    const std::vector<std::string>& arguments,
    const std::vector<std::string>& environment = {}) {
  std::vector<std::string> line{"env"};
  line.insert(line.end(), environment.begin(), environment.end());
  return tests::run_temper(line, arguments);
}

TEST(Cli, HelpIsOneScreen) {
  const auto help = temper({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  EXPECT_THAT(help.out, AllOf(HasSubstr("doctor"), HasSubstr("--version")));
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 24);
  for (const auto& line : split(temper({"--help"}, {"COLUMNS=80"}).out, '\n'))
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(Cli, WithoutACommandPrintsHelpAndIsAUsageError) {
  const auto bare = temper({});
  EXPECT_EQ(bare.code, 2);
  EXPECT_EQ(bare.out, temper({"--help"}).out);
}

TEST(Cli, VersionNamesEverythingABugReportNeeds) {
  const auto version = temper({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(
      version.out,
      AllOf(
          HasSubstr("temper 0."),
          HasSubstr("commit "),
          HasSubstr("LibTorch "),
          testing::AnyOf(HasSubstr("GNU "), HasSubstr("Clang "))));
}

TEST(Cli, EveryFlagOfEveryCommandIsInItsManual) {
  const auto manual = temper({"help", "doctor"});
  EXPECT_EQ(manual.code, 0);
  for (const char* part :
       {"--json",
        "--device D",
        "--python [EXE]",
        "--dir PATH",
        "--verbose",
        "Examples:",
        "Exit codes:",
        "(default:"})
    EXPECT_THAT(manual.out, HasSubstr(part));
  EXPECT_EQ(temper({"doctor", "--help"}).out, manual.out);
}

TEST(Cli, AnUnknownCommandGetsTheNearestOne) {
  const auto wrong = temper({"docter"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(
      wrong.err,
      AllOf(
          HasSubstr("unknown command \"docter\""),
          HasSubstr("Did you mean: temper doctor?")));
  EXPECT_THAT(temper({"frobnicate"}).err, Not(HasSubstr("Did you mean")));
  EXPECT_EQ(temper({"help", "docter"}).code, 2);
  EXPECT_THAT(temper({"predict"}).err, HasSubstr("--with-preprocessing"));
  EXPECT_THAT(temper({"test"}).err, HasSubstr("data.test"));
}

TEST(Cli, AnUnknownFlagGetsTheNearestOne) {
  const auto wrong = temper({"doctor", "--jsno"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(
      wrong.err,
      AllOf(
          HasSubstr("unknown flag --jsno"), HasSubstr("Did you mean --json?")));
  EXPECT_EQ(temper({"--vresion"}).code, 2);
  EXPECT_EQ(temper({"doctor", "surplus"}).code, 2);
}

TEST(Cli, AFlagWithoutItsValueOrWithAWrongOneIsAUsageError) {
  const auto missing = temper({"doctor", "--device"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--device needs a value."));
  const auto twice = temper({"train", "--epochs", "1", "--epochs", "2"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("--epochs was given more than once."));
  const auto wrong = temper({"doctor", "--device", "gpx"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(
      wrong.err,
      AllOf(
          HasSubstr("unknown device \"gpx\""), HasSubstr("Did you mean gpu?")));
}

TEST(Cli, AKeyOfTheConfigIsExplained) {
  const auto key = temper({"help", "config", "data.augment"});
  EXPECT_EQ(key.code, 0);
  EXPECT_THAT(
      key.out,
      AllOf(HasSubstr("data.augment: "), HasSubstr("takes    one of")));
  const auto wrong = temper({"help", "config", "data.augmnt"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("Did you mean data.augment?"));
  EXPECT_EQ(temper({"help", "doctor", "surplus"}).code, 2);
}

TEST(Cli, FlagsShowTheirTypeWithoutAnotherProgramsWords) {
  EXPECT_THAT(
      temper({"help", "runs"}).out,
      AllOf(HasSubstr("--keep N "), Not(HasSubstr("NONNEGATIVE"))));
}

TEST(Cli, OutputThatCannotBeWrittenIsAFailure) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const auto run = tests::run_temper(
      {"sh", "-c", "exec \"$@\" >/dev/full", "sh"}, {"--help"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("cannot write the output: No space left"));
}

TEST(Doctor, JsonIsOneObjectAndNothingElse) {
  const auto run = temper({"doctor", "--json"});
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json.at("schema"), 1);
  EXPECT_EQ(run.code, json.at("verdict") == "bad" ? 3 : 0);
  EXPECT_GT(json.at("machine").at("memory").at("physical_bytes"), 0);
  std::vector<std::string> groups;
  for (const auto& check : json.at("checks")) {
    const auto group = check.at("group").get<std::string>();
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  EXPECT_THAT(
      groups,
      testing::ElementsAre("machine", "build", "limits", "devices", "storage"));
}

TEST(Doctor, IsPlainInAPipe) {
  const auto run = temper({"doctor"});
  EXPECT_THAT(run.out, Not(HasSubstr("\033")));
  EXPECT_THAT(run.err, Not(HasSubstr("checking")));
}

TEST(Doctor, SomethingBadIsExitCodeThree) {
  const auto run = temper({"doctor"}, {"KMP_DUPLICATE_LIB_OK=TRUE"});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("bad   KMP_DUPLICATE_LIB_OK"));
}

TEST(Doctor, AsksPythonOnlyWhenTold) {
  EXPECT_THAT(temper({"doctor"}).out, Not(HasSubstr("python\n")));
  const auto missing = temper({"doctor", "--python", "/no/such/python"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.out, HasSubstr("/no/such/python"));
}

TEST(Start, VerboseSaysWhatIsSetAndWhy) {
  const auto run = temper({"--verbose", "doctor"});
  EXPECT_THAT(run.err, HasSubstr("LibTorch threads: "));
  EXPECT_THAT(temper({"doctor"}).err, Not(HasSubstr("LibTorch threads: ")));
}

TEST(Start, FallbackIsSetOnceForLibTorchToReadWhileLoading) {
  if (!libtorch::linked()) GTEST_SKIP() << "a build without LibTorch";
  const auto run = temper({"--mps-fallback", "-v", "doctor"});
  const std::string set = "PYTORCH_ENABLE_MPS_FALLBACK=1: asked for";
  const auto at = run.err.find(set);
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(set, at + 1), std::string::npos);
  const auto before = temper(
      {"--mps-fallback", "-v", "doctor"}, {"PYTORCH_ENABLE_MPS_FALLBACK=1"});
  EXPECT_THAT(before.err, Not(HasSubstr(set)));
}

} // namespace
} // namespace temper
