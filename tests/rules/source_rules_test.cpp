#include "source_rules.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace temper::rules {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> check(
    const std::string& path,
    const std::string& text) {
  return broken_rules({path, text}, {"libtorch/facts.cpp"});
}

TEST(SourceRules, AreKeptByTheWholeTree) {
  const fs::path root = tests::source_dir() / "temper";
  const auto torch_files = torch_files_of(read(root / "CMakeLists.txt"));
  ASSERT_FALSE(torch_files.empty());
  for (const auto& name : torch_files)
    EXPECT_TRUE(fs::exists(root / name)) << name << " is listed and not there";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const auto kind = entry.path().extension();
    if (kind != ".cpp" && kind != ".h") continue;
    ++files;
    const auto path = fs::relative(entry.path(), root).string();
    EXPECT_THAT(
        broken_rules({path, read(entry.path())}, torch_files), IsEmpty());
  }
  EXPECT_GT(files, 40);
}

TEST(SourceRules, AnArrowAgainstTheTableIsSeen) {
  EXPECT_THAT(
      check("base/text.cpp", "\n#include \"temper/machine/probe.h\"\n"),
      ElementsAre("temper/base/text.cpp:2: base may not include machine"));
  EXPECT_THAT(
      check("doctor/checks.cpp", "#include \"temper/bench/table.h\""),
      ElementsAre(HasSubstr("doctor may not include bench")));
  EXPECT_THAT(
      check("train/loop.cpp", "#  include <temper/cli/console.h>"),
      ElementsAre(HasSubstr("train may not include cli")));
  EXPECT_THAT(
      check("machine/probe.cpp", "#include \"temper/base/text.h\""), IsEmpty());
}

TEST(SourceRules, TorchOutsideItsListIsSeen) {
  EXPECT_THAT(
      check("machine/probe.cpp", "#include <ATen/ATen.h>"),
      ElementsAre(HasSubstr("torch outside")));
  EXPECT_THAT(
      check("libtorch/facts.cpp", "#include <torch/torch.h>"), IsEmpty());
}

TEST(SourceRules, PrintsAndExitsAreSeen) {
  EXPECT_THAT(
      check("machine/a.cpp", "std::cout << 1;"),
      ElementsAre(HasSubstr("printing")));
  EXPECT_THAT(
      check("machine/a.cpp", "std::printf(\"x\");"),
      ElementsAre(HasSubstr("printing")));
  EXPECT_THAT(
      check("machine/a.cpp", "std::exit(1);"),
      ElementsAre(HasSubstr("leaving")));
  EXPECT_THAT(
      check("machine/a.cpp", "std::snprintf(b, 1, \"printf(\"); // exit(1)"),
      IsEmpty());
  EXPECT_THAT(
      check("machine/a.cpp", "a = R\"py(\nexit(1)\n)py\";\nexit(2);"),
      ElementsAre(HasSubstr("a.cpp:4: leaving")));
  EXPECT_THAT(check("base/log.cpp", "std::fprintf(stderr, \"x\");"), IsEmpty());
}

TEST(SourceRules, OtherHouseRulesAreSeen) {
  EXPECT_THAT(
      check("utils/a.cpp", ""), ElementsAre(HasSubstr("no room utils")));
  EXPECT_THAT(
      check("base/a.h", "int a;"), ElementsAre(HasSubstr("#pragma once")));
  EXPECT_THAT(
      check("base/a.cpp", "#ifdef __APPLE__"),
      ElementsAre(HasSubstr("*_linux.cpp")));
  EXPECT_THAT(
      check("base/a.cpp", std::string(501, '\n')),
      ElementsAre(HasSubstr("longer than 500")));
}

} // namespace
} // namespace temper::rules
