// The small parts of the base room that need no file of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

TEST(Error, CarriesWhatAndHint) {
  const Error error("[base] it broke: no reason.", "Mend it.");
  EXPECT_STREQ(error.what(), "[base] it broke: no reason.");
  EXPECT_EQ(error.hint(), "Mend it.");
}

TEST(Check, ThrowsOnlyWhenTheInvariantIsBroken) {
  EXPECT_NO_THROW(check(true, "never shown"));
  try {
    check(false, "two is two");
    FAIL() << "did not throw";
  } catch (const Bug& bug) {
    EXPECT_THAT(bug.what(), testing::HasSubstr("two is two"));
    EXPECT_THAT(bug.what(), testing::HasSubstr("base_test.cpp"));
  }
}

TEST(Environment, ShowsWhatIsSetNow) {
  ::setenv("TEMPER_TEST_VARIABLE", "a=b", 1);
  const Environment environment = current_environment();
  ::unsetenv("TEMPER_TEST_VARIABLE");
  EXPECT_EQ(variable(environment, "TEMPER_TEST_VARIABLE"), "a=b");
  EXPECT_EQ(variable(environment, "TEMPER_TEST_ABSENT"), std::nullopt);
}

TEST(Log, LinesGoToTheSinkAndTheOldOneComesBack) {
  std::vector<std::string> lines;
  auto before = log::set_sink([&](log::Level level, const std::string& line) {
    lines.push_back((level == log::Level::warning ? "!" : "") + line);
  });
  log::note("one");
  log::warn("two");
  log::detail("three");
  log::set_sink(before);
  log::detail("unheard");
  EXPECT_THAT(lines, testing::ElementsAre("one", "!two", "three"));
}

TEST(SmallFile, IsReadWholeOrNotAtAll) {
  const tests::TempFolder folder;
  const auto path = folder.write("a", std::string(5000, 'x'));
  EXPECT_EQ(read_small_file(path)->size(), 5000U);
  EXPECT_EQ(read_small_file(path, 4999), std::nullopt);
  std::filesystem::remove(path);
  EXPECT_EQ(read_small_file(path), std::nullopt);
  EXPECT_EQ(read_small_file(folder.path()), std::nullopt);
}

} // namespace
} // namespace temper
