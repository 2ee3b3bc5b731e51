#include "temper/config/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/config/fields.h"
#include "tests/complaint.h"

namespace temper::config {
namespace {

// The words that a key takes, but for "auto" where that is no value.
std::vector<std::string> words_of(const char* key) {
  return find_field(key)->choices;
}

TEST(Choices, EveryWordOfAKeyIsAValueAndBack) {
  for (const std::string& word : words_of("layout")) {
    if (word == "auto") continue;
    EXPECT_EQ(to_text(layout_from_text(word).value()), word);
  }
  for (const std::string& word : words_of("precision")) {
    if (word == "auto") continue;
    EXPECT_EQ(to_text(precision_from_text(word).value()), word);
  }
  for (const std::string& word : words_of("optimizer.moments"))
    EXPECT_EQ(to_text(precision_from_text(word).value()), word);
  for (const std::string& word : words_of("guard.nan"))
    EXPECT_EQ(to_text(nan_policy_from_text(word).value()), word);
  for (const std::string& word : words_of("memory.recompute"))
    EXPECT_EQ(to_text(recompute_from_text(word).value()), word);
  for (const std::string& word : words_of("model.head"))
    EXPECT_EQ(to_text(head_from_text(word).value()), word);
}

TEST(Choices, AutoIsNoValueAndTheDefaultsAreWords) {
  const Config config;
  EXPECT_EQ(layout_of(config), std::nullopt);
  EXPECT_EQ(precision_of(config), Precision::fp32);
  EXPECT_EQ(moments_of(config.optimizer), Precision::fp32);
  EXPECT_EQ(nan_policy_of(config.guard), NanPolicy::skip);
  EXPECT_EQ(recompute_of(config.memory), Recompute::off);
  EXPECT_EQ(head_of(config.model), HeadChoice::keep);
}

TEST(Choices, AWordThatAProgramPutThereIsRefusedByItsKey) {
  Config config;
  config.guard.nan = "halt";
  EXPECT_THAT(
      tests::complaint([&] { nan_policy_of(config.guard); }),
      testing::HasSubstr("guard.nan cannot be \"halt\""));
}

} // namespace
} // namespace temper::config
