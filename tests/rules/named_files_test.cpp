#include "named_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rooms.h"
#include "source_tree.h"
#include "temper/base/text.h"

namespace temper::rules {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NamedFiles, AreThereInTheWholeTree) {
  std::set<std::string> tree;
  std::vector<SourceFile> texts;
  for (const char* folder : {"temper", "tests", "bench", "examples", "fuzz"})
    for (const SourceFile& file : source_tree(folder)) {
      tree.insert(cat(folder, "/", file.path));
      if (std::string(folder) == "temper")
        texts.push_back({cat("temper/", file.path), file.text});
    }
  std::vector<std::string> pages{"ARCHITECTURE.md", "CONTRIBUTING.md"};
  for (const SourceFile& file : source_tree("temper")) {
    const std::string page =
        cat("temper/", file.path.substr(0, file.path.find('/')), "/README.md");
    if (std::find(pages.begin(), pages.end(), page) == pages.end())
      pages.push_back(page);
  }
  for (const std::string& page : pages)
    texts.push_back({page, read_source(page)});
  EXPECT_GT(pages.size(), 15u);
  std::vector<std::string> gone;
  for (const SourceFile& text : texts)
    for (const std::string& line : files_that_are_gone(text, tree))
      gone.push_back(line);
  EXPECT_THAT(gone, IsEmpty());
}

TEST(NamedFiles, ThatAreGoneAreSeenInCommentsAndPages) {
  const std::set<std::string> tree{"temper/data/loader/ring.h"};
  EXPECT_THAT(
      files_that_are_gone(
          {"a.cpp",
           "// See ring.h, loader/ring.h and data/ring.h.\n"
           "int a = f(\"old.h\"); // told\n"
           "int b; // from old.cpp\n"},
          tree),
      ElementsAre(
          "a.cpp:1: there is no data/ring.h", "a.cpp:3: there is no old.cpp"));
  EXPECT_THAT(
      files_that_are_gone({"README.md", "Open `old.h` first."}, tree),
      ElementsAre("README.md:1: there is no old.h"));
}

TEST(NamedFiles, PatternsAndHeadersOfOthersAreNoFilesOfOurs) {
  EXPECT_THAT(
      files_that_are_gone(
          {"README.md",
           "`*_linux.cpp`, `zoo_<family>.cpp`, <torch/torch.h>, "
           "`torch/torch.h`"},
          {}),
      IsEmpty());
}

} // namespace
} // namespace temper::rules
