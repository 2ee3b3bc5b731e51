#include "temper/plan/cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"

namespace temper::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Cache : public testing::Test {
 protected:
  Cache()
      : sink_(log::set_sink([this](log::Level level, const std::string& line) {
          if (level == log::Level::warning) warnings_.push_back(line);
        })) {
    key_.machine = "m";
    key_.libtorch = "1.13.1";
    key_.temper = "0.1.0";
    key_.model = "resnet18";
    key_.model_hash = 7;
    key_.batch = 64;
    key_.input_shape = {3, 32, 32};
    plan_.device = {"cpu", "fastest"};
    plan_.layout = {"channels_last", "fastest"};
    plan_.threads = {"2", "fastest"};
    plan_.precision = {"fp32", "as asked"};
    plan_.tried = {
        {plan_.setting(), 0.1, 0.04, TrialVerdict::chosen, "fastest"}};
    candidates_.settings = {plan_.setting()};
  }
  ~Cache() override {
    log::set_sink(sink_);
  }
  std::filesystem::path file() const {
    return folder_.path() / "plans" / (key_.text() + ".json");
  }

  tests::TempFolder folder_;
  PlanCache cache_{folder_.path() / "plans"};
  PlanKey key_;
  Plan plan_;
  Candidates candidates_;
  std::vector<std::string> warnings_;
  log::Sink sink_;
};

TEST_F(Cache, WhatWasRememberedIsRecalledAndMarked) {
  EXPECT_FALSE(cache_.recall(key_, candidates_));
  cache_.remember(key_, plan_);
  const auto plan = cache_.recall(key_, candidates_);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->remembered);
  EXPECT_EQ(plan->setting(), plan_.setting());
  EXPECT_EQ(plan->layout, plan_.layout);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, WhatIsTooOldIsMeasuredAgain) {
  constexpr double kDay_s = 86'400;
  double now_s = 1e9;
  const PlanCache cache(folder_.path() / "plans", 200, [&] { return now_s; });
  cache.remember(key_, plan_);
  now_s += 29 * kDay_s;
  EXPECT_TRUE(cache.recall(key_, candidates_, 30));
  now_s += 2 * kDay_s;
  EXPECT_FALSE(cache.recall(key_, candidates_, 30));
  EXPECT_TRUE(cache.recall(key_, candidates_, 0)); // for ever
  now_s = 1e9 - 2 * kDay_s; // whose clock is wrong is not known
  EXPECT_FALSE(cache.recall(key_, candidates_, 30));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, WhatDoesNotSayHowNoisyItIsIsMeasuredAgain) {
  plan_.tried[0].spread = std::nullopt; // as older versions wrote it
  cache_.remember(key_, plan_);
  EXPECT_FALSE(cache_.recall(key_, candidates_));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Cache, EveryPartOfTheKeyCountsAndTheNameDoesNot) {
  std::set<std::string> keys{key_.text()};
  const auto differs = [&](auto&& change) {
    PlanKey other = key_;
    change(other);
    EXPECT_EQ(other.text().size(), 16U);
    return keys.insert(other.text()).second;
  };
  EXPECT_TRUE(differs([](PlanKey& key) { key.machine = "n"; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.libtorch = "2.14.0"; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.temper = "0.2.0"; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.model_hash = 8; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.batch = 65; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.input_shape = {3, 32, 33}; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.requests.device = "cpu"; }));
  EXPECT_TRUE(
      differs([](PlanKey& key) { key.requests.layout = Layout::contiguous; }));
  EXPECT_TRUE(
      differs([](PlanKey& key) { key.requests.precision = Precision::bf16; }));
  EXPECT_TRUE(differs([](PlanKey& key) { key.requests.threads = 1; }));
  EXPECT_FALSE(differs([](PlanKey& key) { key.model = "copy"; }));
}

TEST_F(Cache, ASettingThatIsNoLongerPossibleIsNotRecalled) {
  cache_.remember(key_, plan_);
  candidates_.settings = {Setting{}};
  EXPECT_FALSE(cache_.recall(key_, candidates_));
}

TEST_F(Cache, ADamagedEntryIsIgnoredWithAWarning) {
  cache_.remember(key_, plan_);
  for (const std::string bytes :
       {"", "{", "[]", "{\"model\": 3}", "\xFF\xFE", "{\"model\": \"x\"}"}) {
    warnings_.clear();
    tests::write_bytes(file(), bytes);
    EXPECT_FALSE(cache_.recall(key_, candidates_));
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("damaged"))) << bytes;
    EXPECT_THAT(cache_.list(), IsEmpty());
  }
  const std::string good = [&] {
    cache_.remember(key_, plan_);
    return tests::read_bytes(file());
  }();
  for (std::size_t length = 0; length + 1 < good.size(); length += 7) {
    tests::write_bytes(file(), good.substr(0, length));
    EXPECT_FALSE(cache_.recall(key_, candidates_)) << length;
  }
}

TEST_F(Cache, APlanThatWasNotMeasuredIsNotRemembered) {
  plan_.tried[0].step_s = std::nullopt;
  cache_.remember(key_, plan_);
  plan_.tried = {};
  cache_.remember(key_, plan_);
  EXPECT_THAT(cache_.list(), IsEmpty());
}

TEST_F(Cache, PlansAreListedAndClearedAndNothingElse) {
  cache_.remember(key_, plan_);
  key_.batch = 128;
  cache_.remember(key_, plan_);
  tests::write_bytes(folder_.path() / "plans" / "mine.json", "{}");
  const auto list = cache_.list();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].model, "resnet18");
  EXPECT_EQ(list[0].batch, 128);
  EXPECT_EQ(list[0].input_shape, "3x32x32");
  EXPECT_EQ(cache_.clear(key_.text().substr(0, 6)), 1);
  EXPECT_EQ(cache_.list().size(), 1U);
  EXPECT_EQ(cache_.clear(), 1);
  EXPECT_EQ(cache_.clear(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "plans" / "mine.json"));
}

TEST_F(Cache, WithoutAPlaceNothingIsRememberedAndNothingFails) {
  const PlanCache nowhere{std::filesystem::path()};
  nowhere.remember(key_, plan_);
  EXPECT_FALSE(nowhere.recall(key_, candidates_));
  EXPECT_THAT(nowhere.list(), IsEmpty());
  EXPECT_EQ(nowhere.clear(), 0);
  const PlanCache forbidden{"/proc/temper-plans"};
  EXPECT_NO_THROW(forbidden.remember(key_, plan_));
}

TEST_F(Cache, TheOldestMakeRoom) {
  const PlanCache small{folder_.path() / "plans", 3};
  for (int batch = 1; batch <= 5; ++batch) {
    key_.batch = batch;
    small.remember(key_, plan_);
  }
  std::vector<std::int64_t> batches;
  for (const auto& entry : small.list())
    batches.push_back(entry.batch);
  EXPECT_THAT(batches, ElementsAre(5, 4, 3));
}

TEST(MachineFingerprint, ChangesWithWhatMakesItFast) {
  machine::Machine machine;
  const std::string plain = machine_fingerprint(machine);
  machine.cpu.usable = 3;
  const std::string more = machine_fingerprint(machine);
  EXPECT_NE(plain, more);
  machine.gpus.push_back({"apple", "Apple M1", 8, 0, 0});
  EXPECT_NE(machine_fingerprint(machine), more);
  const std::string gpu = machine_fingerprint(machine);
  machine.disk.free_bytes = 17; // changes all the time
  EXPECT_EQ(machine_fingerprint(machine), gpu);
}

} // namespace
} // namespace temper::plan
