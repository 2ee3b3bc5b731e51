#include "test_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_tree.h"

namespace temper::rules {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TestNames, HaveOneStyleInTheWholeTree) {
  const auto tree = source_tree("tests");
  EXPECT_GT(tree.size(), 200U);
  for (const SourceFile& file : tree)
    EXPECT_THAT(odd_test_names(file), IsEmpty()) << "tests/" << file.path;
}

TEST(TestNames, OfAnotherStyleAreSeen) {
  EXPECT_THAT(
      odd_test_names(
          {"a_test.cpp",
           "TEST"
           "(Text, numbers_must_be_whole) {}\n"
           "TEST_F"
           "(\n    Loader,\n    Ends) {}\n"
           "TEST_P"
           "(loader, Begins) {}\n"}),
      ElementsAre("numbers_must_be_whole", "loader"));
}

} // namespace
} // namespace temper::rules
