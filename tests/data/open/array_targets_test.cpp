// Targets of arrays: rows that are one-hot, rows of bits, numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "temper/data/sample/schema.h"
#include "tests/data/format/npy_file.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using tests::TempFolder;

TEST(ArrayTargets, OfOneHotRowsAreClassesAndSaidToBe) {
  const TempFolder folder;
  folder.write("x.npy", npy_file("|u1", "(4, 1)") + std::string("\0\1\0\1", 4));
  const std::string rows("\0\1\0\1\0\0\0\0\1\0\1\0", 12);
  folder.write("y.npy", npy_file("|u1", "(4, 3)") + rows);
  OpenOptions options;
  options.val_fraction = 0;
  const std::string name = cat("npy:", folder.text());
  const Splits splits = open_source(name, options);
  EXPECT_THAT(splits.schema->classes, ElementsAre("0", "1", "2"));
  EXPECT_EQ(splits.train->label(0), 1);
  EXPECT_EQ(splits.train->label(2), 2);
  EXPECT_THAT(splits.notes, ElementsAre(HasSubstr("taken for 3 classes")));
  options.numbers.one_hot_is_class = false;
  const Splits numbers = open_source(name, options);
  EXPECT_EQ(numbers.train->info().target, Target::numbers);
  EXPECT_EQ(numbers.train->info().target_size, 3);
  EXPECT_THAT(numbers.notes, Each(Not(HasSubstr("taken for"))));
}

TEST(ArrayTargets, OfSeveralOnesInARowMayBeLabels) {
  const TempFolder folder;
  folder.write("x.npy", npy_file("|u1", "(4, 1)") + std::string("\0\1\0\1", 4));
  const std::string rows("\0\1\1\1\0\0\0\0\0\0\1\1", 12);
  folder.write("y.npy", npy_file("|u1", "(4, 3)") + rows);
  OpenOptions options;
  options.val_fraction = 0;
  const std::string name = cat("npy:", folder.text());
  EXPECT_THAT(
      open_source(name, options).notes,
      Contains(AllOf(
          HasSubstr("taken for 3 numbers"),
          HasSubstr("train.loss = \"bce\""))));
  folder.write(
      "y.npy", npy_file("|u1", "(4, 3)") + std::string(11, '\1') + "\2");
  EXPECT_THAT(open_source(name, options).notes, Each(Not(HasSubstr("bce"))));
}

} // namespace
} // namespace temper::data
