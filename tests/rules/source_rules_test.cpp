#include "source_rules.h"
#include "source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "temper/base/text.h"
#include "tests/paths.h"

namespace temper::rules {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> broken_by(
    const std::string& path,
    const std::string& text) {
  return broken_rules({path, text}, {"libtorch/torch"});
}

std::string readme_of(const Room& room) {
  return read_source(cat("temper/", room.name, "/README.md"));
}

TEST(SourceRules, AreKeptByTheWholeTree) {
  const fs::path root = tests::source_dir() / "temper";
  const Names folders = torch_folders_of(read_source("temper/CMakeLists.txt"));
  ASSERT_FALSE(folders.empty());
  for (const auto& name : folders)
    EXPECT_TRUE(fs::is_directory(root / name)) << name << " is not there";
  const auto tree = source_tree("temper");
  EXPECT_GT(tree.size(), 40U);
  for (const SourceFile& file : tree)
    EXPECT_THAT(broken_rules(file, folders), IsEmpty());
  EXPECT_THAT(broken_privacy(tree), IsEmpty());
}

TEST(SourceRules, CommentsHaveASubjectInTheWholeTree) {
  for (const SourceFile& file : source_tree("temper"))
    EXPECT_THAT(broken_comments(file), IsEmpty());
}

TEST(SourceRules, TestsAreShortFilesToo) {
  const auto tree = source_tree("tests");
  EXPECT_GT(tree.size(), 200U);
  for (const SourceFile& file : tree)
    EXPECT_EQ(too_long(file), "") << "tests/" << file.path;
}

TEST(SourceRules, EveryArrowOfTheTableIsUsed) {
  EXPECT_THAT(unused_arrows(source_tree("temper")), IsEmpty());
}

TEST(SourceRules, NoFolderIsCrowded) {
  constexpr int kMost = 40;
  std::map<std::string, int> files;
  for (const char* top : {"temper", "tests"})
    for (const auto& entry :
         fs::recursive_directory_iterator(tests::source_dir() / top))
      if (entry.is_regular_file()) ++files[entry.path().parent_path().string()];
  for (const auto& [folder, count] : files)
    EXPECT_LE(count, kMost) << folder;
}

TEST(Rooms, UseOnlyWhatStandsBeforeThem) {
  Names before;
  for (const Room& room : rooms()) {
    for (const std::string& other : room.uses)
      EXPECT_EQ(before.count(other), 1U) << room.name << " uses " << other;
    before.insert(room.name);
    Names corners;
    for (const Corner& corner : room.corners) {
      for (const std::string& other : corner.uses)
        EXPECT_EQ(corners.count(other), 1U)
            << room.name << "/" << corner.name << " uses " << other;
      corners.insert(corner.name);
    }
  }
}

TEST(Rooms, ArchitectureShowsTheTable) {
  std::vector<Row> rows;
  for (const Room& room : rooms())
    rows.push_back({room.name, room.uses});
  EXPECT_EQ(rows_of(read_source("ARCHITECTURE.md"), "room"), rows);
}

TEST(Rooms, EachSaysInItsReadmeWhatItsCornersAre) {
  for (const Room& room : rooms()) {
    EXPECT_THAT(readme_of(room), StartsWith(cat("# ", room.name, "\n")));
    std::vector<Row> rows;
    for (const Corner& corner : room.corners)
      rows.push_back({corner.name, corner.uses});
    EXPECT_EQ(rows_of(readme_of(room), "corner"), rows) << room.name;
  }
}

TEST(SourceRules, AnArrowAgainstTheTableIsSeen) {
  EXPECT_THAT(
      broken_by("base/text.cpp", "\n#include \"temper/machine/probe.h\"\n"),
      ElementsAre("temper/base/text.cpp:2: base may not include machine"));
  EXPECT_THAT(
      broken_by("doctor/checks.cpp", "#include \"temper/bench/table.h\""),
      ElementsAre(HasSubstr("doctor may not include bench")));
  EXPECT_THAT(
      broken_by(
          "train/loop/loop.cpp", "#  include <temper/cli/terminal/console.h>"),
      ElementsAre(HasSubstr("train may not include cli")));
  EXPECT_THAT(
      broken_by("machine/probe.cpp", "#include \"temper/base/text.h\""),
      IsEmpty());
}

TEST(SourceRules, AnArrowBetweenCornersAgainstTheTableIsSeen) {
  EXPECT_THAT(
      broken_by("data/codec/a.cpp", "#include \"temper/data/loader/ring.h\""),
      ElementsAre(HasSubstr("data/codec may not include data/loader")));
  EXPECT_THAT(
      broken_by("machine/a.cpp", "#include \"temper/machine/linux/nvml.h\""),
      ElementsAre(HasSubstr("machine may not include machine/linux")));
  EXPECT_THAT(
      broken_by("machine/linux/a.cpp", "#include \"temper/machine/machine.h\""),
      IsEmpty());
}

TEST(SourceRules, APrivateHeaderIsIncludedInItsCornerOnly) {
  const SourceFile ring{
      "data/loader/ring.h",
      "// Batches.\n// Private to data/loader.\n#pragma once\n"};
  const std::string line = "#include \"temper/data/loader/ring.h\"\n";
  EXPECT_THAT(
      broken_privacy({ring, {"data/loader/loader.cpp", line}}), IsEmpty());
  EXPECT_THAT(
      broken_privacy({ring, {"data/inspect/check.cpp", "\n" + line}}),
      ElementsAre(
          "temper/data/inspect/check.cpp:2: data/loader/ring.h is private to "
          "data/loader"));
  EXPECT_THAT(
      broken_privacy({{"data/tune/pace.h", ring.text}}),
      ElementsAre(HasSubstr("does not lie in data/loader")));
  EXPECT_THAT(
      broken_privacy(
          {{"data/loader/ring.h",
            "// Batches. Private to\n// data/loader.\n#pragma once\n"}}),
      ElementsAre(HasSubstr("on a line of its own")));
}

TEST(SourceRules, ACommentWithoutASubjectIsSeen) {
  const auto broken_in = [](const std::string& text) {
    return broken_comments({"base/a.h", text});
  };
  EXPECT_THAT(
      broken_in("int a;\n  // Of all four.\n  int hash();\n"),
      ElementsAre(AllOf(
          StartsWith("temper/base/a.h:2: "), HasSubstr("begins with \"Of\""))));
  for (const char* word :
       {"And", "As", "What", "Who", "Whom", "Whose", "Nothing"})
    EXPECT_THAT(
        broken_in(cat("// ", word, " is there.\nint a;\n")),
        ElementsAre(HasSubstr(word)))
        << word;
  EXPECT_THAT(
      broken_in("// A sum.\nint a;\n// As b.\nint b;\n//\n// What c is.\n"),
      ElementsAre(HasSubstr("a.h:3: ")));
}

TEST(SourceRules, ACommentGoesOnAsItLikes) {
  const std::string text =
      "// One number over the time and the size\n// Of all files.\n"
      "int a; // Of b\n// Often asked. Whatever.\n// Assets\n"
      "const char* c = R\"(\n// What it is\n)\";\n";
  EXPECT_THAT(broken_comments({"base/a.h", text}), IsEmpty());
}

TEST(SourceRules, AnArrowThatNobodyUsesIsSeen) {
  const auto unused = unused_arrows(
      {{"plan/a.cpp", "#include \"temper/base/text.h\""},
       {"graph/pt2/a.cpp", "#include \"temper/graph/ir/graph.h\""}});
  EXPECT_THAT(unused, Contains("plan -> machine"));
  EXPECT_THAT(unused, Contains("graph/pass -> graph/ir"));
  EXPECT_THAT(unused, Not(Contains("plan -> base")));
  EXPECT_THAT(unused, Not(Contains("graph/pt2 -> graph/ir")));
}

TEST(SourceRules, ATableForPeopleIsRead) {
  EXPECT_EQ(
      rows_of(
          "# a\n\n| room | owns | may use |\n|---|---|---|\n"
          "| [`base`](temper/base) | text | – |\n"
          "| `plan` | plans | `base`, data |\n\n| `x` | | `base` |\n",
          "room"),
      (std::vector<Row>{{"base", {}}, {"plan", {"base", "data"}}}));
  EXPECT_THAT(rows_of("no table", "room"), IsEmpty());
}

TEST(SourceRules, TorchOutsideItsFoldersIsSeen) {
  EXPECT_THAT(
      broken_by("machine/probe.cpp", "#include <ATen/ATen.h>"),
      ElementsAre(HasSubstr("torch outside")));
  EXPECT_THAT(
      broken_by("libtorch/facts.h", "#pragma once\n#include <ATen/ATen.h>"),
      ElementsAre(HasSubstr("torch outside")));
  EXPECT_THAT(
      broken_by("libtorch/torch/facts.cpp", "#include <torch/torch.h>"),
      IsEmpty());
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
      broken_by("graph/utils/a.cpp", ""),
      ElementsAre(HasSubstr("no corner graph/utils")));
  EXPECT_THAT(
      broken_by("graph/a.cpp", ""),
      ElementsAre(HasSubstr("files of graph lie in corners")));
  EXPECT_THAT(
      broken_by("graph/ir/deep/a.cpp", ""),
      ElementsAre(HasSubstr("a corner has no folders")));
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
