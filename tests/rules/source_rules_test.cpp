#include "source_rules.h"
#include "source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> broken_by(
    const std::string& path,
    const std::string& text) {
  return broken_rules({path, text}, {"libtorch/facts.cpp"});
}

TEST(SourceRules, AreKeptByTheWholeTree) {
  const auto files = source_tree("temper");
  const auto torch_files = torch_files_of(read_source("temper/CMakeLists.txt"));
  ASSERT_FALSE(torch_files.empty());
  std::set<std::string> missing = torch_files;
  for (const SourceFile& file : files) {
    missing.erase(file.path);
    EXPECT_THAT(broken_rules(file, torch_files), IsEmpty());
  }
  EXPECT_THAT(missing, IsEmpty()) << "listed and not there";
  EXPECT_GT(files.size(), 40u);
}

TEST(SourceRules, AnArrowAgainstTheTableIsSeen) {
  EXPECT_THAT(
      broken_by("base/text.cpp", "\n#include \"temper/machine/probe.h\"\n"),
      ElementsAre("temper/base/text.cpp:2: base may not include machine"));
  EXPECT_THAT(
      broken_by("doctor/checks.cpp", "#include \"temper/bench/table.h\""),
      ElementsAre(HasSubstr("doctor may not include bench")));
  EXPECT_THAT(
      broken_by("train/loop.cpp", "#  include <temper/cli/console.h>"),
      ElementsAre(HasSubstr("train may not include cli")));
  EXPECT_THAT(
      broken_by("machine/probe.cpp", "#include \"temper/base/text.h\""),
      IsEmpty());
}

TEST(SourceRules, TorchOutsideItsListIsSeen) {
  EXPECT_THAT(
      broken_by("machine/probe.cpp", "#include <ATen/ATen.h>"),
      ElementsAre(HasSubstr("torch outside")));
  EXPECT_THAT(
      broken_by("libtorch/facts.cpp", "#include <torch/torch.h>"), IsEmpty());
}

TEST(SourceRules, PrintsAndExitsAreSeen) {
  EXPECT_THAT(
      broken_by("machine/a.cpp", "std::cout << 1;"),
      ElementsAre(HasSubstr("printing")));
  EXPECT_THAT(
      broken_by("machine/a.cpp", "std::printf(\"x\");"),
      ElementsAre(HasSubstr("printing")));
  EXPECT_THAT(
      broken_by("machine/a.cpp", "std::exit(1);"),
      ElementsAre(HasSubstr("leaving")));
  EXPECT_THAT(
      broken_by(
          "machine/a.cpp", "std::snprintf(b, 1, \"printf(\"); // exit(1)"),
      IsEmpty());
  EXPECT_THAT(
      broken_by("machine/a.cpp", "a = R\"py(\nexit(1)\n)py\";\nexit(2);"),
      ElementsAre(HasSubstr("a.cpp:4: leaving")));
  EXPECT_THAT(
      broken_by("base/log.cpp", "std::fprintf(stderr, \"x\");"), IsEmpty());
}

TEST(SourceRules, OtherHouseRulesAreSeen) {
  EXPECT_THAT(
      broken_by("utils/a.cpp", ""), ElementsAre(HasSubstr("no room utils")));
  EXPECT_THAT(
      broken_by("base/a.h", "int a;"), ElementsAre(HasSubstr("#pragma once")));
  EXPECT_THAT(
      broken_by("base/a.cpp", "#ifdef __APPLE__"),
      ElementsAre(HasSubstr("*_linux.cpp")));
  EXPECT_THAT(
      broken_by("base/a.cpp", std::string(501, '\n')),
      ElementsAre(HasSubstr("longer than 500")));
}

} // namespace
} // namespace temper::rules
