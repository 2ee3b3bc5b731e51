// docs/configuration.md is made from the table of the keys.
#include <gtest/gtest.h>

#include "temper/config/fields.h"
#include "temper/config/print.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper::config {
namespace {

TEST(ConfigurationPage, IsWhatTheProgramPrints) {
  EXPECT_EQ(
      tests::read_bytes(tests::source_dir() / "docs/configuration.md"),
      reference_markdown())
      << "write it again: temper help config --markdown > "
         "docs/configuration.md";
}

TEST(ConfigurationPage, HasEveryKeyInARowOfFourColumns) {
  const std::string page = reference_markdown();
  for (const Field& field : fields()) {
    const auto begin = page.find("| `" + std::string(field.key) + "` |");
    ASSERT_NE(begin, std::string::npos) << field.key;
    const std::string row = page.substr(begin, page.find('\n', begin) - begin);
    EXPECT_EQ(std::count(row.begin(), row.end(), '|'), 5) << row;
  }
}

} // namespace
} // namespace temper::config
