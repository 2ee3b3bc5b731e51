#include "temper/config/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/config/load.h"
#include "temper/config/values.h"

namespace temper::config {
namespace {

using testing::HasSubstr;

TEST(ConfigPrint, APrintedConfigReadsBackTheSame) {
  Config config;
  EXPECT_EQ(load_text(to_toml(config), "x", {}).config, config);
  config.seed = 9'000'000'000'000'000'000;
  config.optimizer.lr = 0.1 + 0.2;
  config.optimizer.weight_decay = 1e-30;
  config.run.name = "a \"quoted\" \\ name\nwith\ttabs\x01 and \xC3\xBC";
  config.run.tags = {"", "b"};
  config.threads = 3;
  config.loader.memory.bytes = 1000;
  config.memory.budget.bytes = 3ULL << 30;
  config.model.widths = {};
  config.train.class_weights = {1, 0.3};
  EXPECT_EQ(load_text(to_toml(config), "x", {}).config, config);
}

TEST(ConfigPrint, OneNameIsWrittenAsTextAndSeveralAsAList) {
  Config config;
  config.data.augment = "cifar";
  EXPECT_THAT(to_toml(config), HasSubstr("\naugment = \"cifar\"\n"));
  config.data.augment = Names({"cifar", "jitter"});
  EXPECT_THAT(
      to_toml(config), HasSubstr("\naugment = [\"cifar\", \"jitter\"]\n"));
  EXPECT_EQ(load_text(to_toml(config), "x", {}).config, config);
}

TEST(ConfigPrint, EveryKeyIsThereOnceAndExplained) {
  std::set<std::string> seen;
  for (const Field& field : fields()) {
    EXPECT_TRUE(seen.insert(field.key).second) << field.key;
    EXPECT_FALSE(std::string(field.help).empty()) << field.key;
    EXPECT_THAT(help_text(), HasSubstr(field.key));
  }
}

TEST(ConfigPrint, EveryFieldHasAPlaceOfItsOwn) {
  Config config;
  std::set<const void*> places;
  for (const Field& field : fields())
    std::visit(
        [&](const auto* slot) {
          EXPECT_TRUE(places.insert(slot).second) << field.key;
        },
        field.slot(config));
}

TEST(ConfigPrint, TheDefaultsAreInsideTheirOwnLimits) {
  for (const Field& field : fields())
    EXPECT_NO_THROW(
        load_text("", "", {{field.key, value_text(field, {}), "test"}}));
}

TEST(ConfigPrint, HelpFitsATerminal) {
  for (const std::string& line : split(help_text(), '\n'))
    EXPECT_LE(line.size(), 80U) << line;
}

TEST(ConfigPrint, NumbersAreWrittenAsShortAsTheyCanBe) {
  EXPECT_EQ(double_text(0.1), "0.1");
  EXPECT_EQ(double_text(1), "1.0");
  EXPECT_EQ(double_text(1e-8), "1e-08");
  EXPECT_EQ(double_text(0.1 + 0.2), "0.30000000000000004");
}

TEST(ConfigPrint, AmountsOfMemoryAreRead) {
  EXPECT_EQ(parse_bytes("4GiB"), 4ULL << 30);
  EXPECT_EQ(parse_bytes("1.5 gb"), 1'500'000'000U);
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_FALSE(parse_bytes("4 apples"));
  EXPECT_FALSE(parse_bytes("GiB"));
  EXPECT_FALSE(parse_bytes("0"));
  EXPECT_FALSE(parse_bytes("99999999999TiB"));
}

} // namespace
} // namespace temper::config
