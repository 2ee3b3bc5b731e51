#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/checkpoint/checkpoint.h"
#include "tests/paths.h"

namespace temper::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

Snapshot snapshot(std::int64_t update, float value = 1) {
  Snapshot made;
  made.update = update;
  made.epoch = 3;
  made.loader = R"({"epoch":3})";
  made.journal_offset = 77;
  made.loop = R"({"best":0.5})";
  made.writer = "test";
  auto tensor = graph::make_tensor(graph::DType::kFloat32, {2});
  const float values[] = {value, -value};
  std::memcpy(tensor.bytes, values, sizeof values);
  made.tensors["model.w"] = tensor.data;
  return made;
}

Snapshot judged(Snapshot made, bool best) {
  made.best = best;
  return made;
}

float first(const Snapshot& from) {
  float value = 0;
  std::memcpy(&value, from.tensors.at("model.w").bytes.get(), sizeof value);
  return value;
}

class Checkpoints : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
        (std::string("checkpoints-") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    before_ = log::set_sink(
        [this](log::Level, const std::string& line) { said_ += line + "\n"; });
  }
  void TearDown() override {
    log::set_sink(before_);
    fs::remove_all(folder_);
  }

  std::string contents(const fs::path& path) const {
    std::ifstream file(folder_ / path, std::ios::binary);
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
  }
  void write(const fs::path& path, const std::string& text) const {
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }

  fs::path folder_;
  std::string said_;
  log::Sink before_;
};

TEST_F(Checkpoints, WhatWasSavedIsLoaded) {
  Store store(folder_);
  EXPECT_FALSE(store.load_latest());
  store.save(snapshot(12, 2.5));
  const auto back = store.load_latest();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->update, 12);
  EXPECT_EQ(back->epoch, 3U);
  EXPECT_EQ(back->loader, R"({"epoch":3})");
  EXPECT_EQ(back->journal_offset, 77U);
  EXPECT_EQ(back->loop, R"({"best":0.5})");
  EXPECT_EQ(back->writer, "test");
  EXPECT_EQ(first(*back), 2.5);
  EXPECT_EQ(contents("latest"), "step-12\n");
}

TEST_F(Checkpoints, TheLastOnesAndTheBestStay) {
  Store store(folder_);
  for (int i = 1; i <= 6; ++i)
    store.save(judged(snapshot(i * 10, static_cast<float>(i)), i == 2));
  EXPECT_THAT(store.list(), ElementsAre(20, 50, 60));
  EXPECT_EQ(first(*store.load_best()), 2);
}

TEST_F(Checkpoints, NeverFewerThanTwoStay) {
  Store store(folder_, {0, 0});
  for (int i = 1; i <= 3; ++i)
    store.save(snapshot(i));
  EXPECT_THAT(store.list(), ElementsAre(2, 3));
}

// A rollback counts updates down; the journal only grows.
TEST_F(Checkpoints, TheNewestOfARunThatWasRolledBackIsTheLastMade) {
  Store store(folder_);
  std::uint64_t offset = 100;
  for (const int update : {10, 20, 30, 5}) {
    Snapshot made = snapshot(update);
    made.journal_offset = offset += 100;
    store.save(made);
  }
  EXPECT_THAT(store.list(), ElementsAre(30, 5));
  EXPECT_EQ(store.load_latest()->update, 5);
}

// Its journal has lost its end, and goes on at a place it has been at before.
TEST_F(Checkpoints, TheNewestIsTheLastMadeWhateverTheJournalLost) {
  for (const int update : {10, 20, 30}) {
    Snapshot made = snapshot(update);
    made.journal_offset = update == 30 ? 50 : 100;
    Store(folder_).save(made);
  }
  EXPECT_THAT(Store(folder_).list(), ElementsAre(20, 30));
  EXPECT_EQ(Store(folder_).load_latest()->update, 30);
}

TEST_F(Checkpoints, TheSameUpdateAgainTakesItsPlace) {
  Store store(folder_);
  store.save(snapshot(5, 1));
  store.save(snapshot(5, 9));
  EXPECT_THAT(store.list(), ElementsAre(5));
  EXPECT_EQ(first(*store.load_latest()), 9);
}

TEST_F(Checkpoints, ADamagedOneIsPassedOverAndTold) {
  Store store(folder_);
  store.save(snapshot(1, 1));
  store.save(snapshot(2, 2));
  fs::resize_file(folder_ / "step-2/state.safetensors", 20);
  EXPECT_EQ(first(*store.load_latest()), 1);
  EXPECT_THAT(said_, HasSubstr("step-2"));
}

// A bit of every byte of both files; with TEMPER_TORTURE=1 every bit.
TEST_F(Checkpoints, EveryFlippedBitIsNoticed) {
  const int bits = std::getenv("TEMPER_TORTURE") == nullptr ? 1 : 8;
  Store store(folder_);
  store.save(snapshot(1, 1));
  for (const char* file : {"step-1/state.safetensors", "step-1/state.json"}) {
    const std::string whole = contents(file);
    for (std::size_t byte = 0; byte < whole.size(); ++byte)
      for (int bit = 0; bit < bits; ++bit) {
        std::string flipped = whole;
        const std::size_t which = bits == 1 ? byte % 8 : bit;
        flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << which));
        write(file, flipped);
        EXPECT_FALSE(store.load_latest()) << file << " byte " << byte;
      }
    for (std::size_t size = 0; size < whole.size(); size += 7) {
      write(file, whole.substr(0, size));
      EXPECT_FALSE(store.load_latest()) << file << " of " << size << " bytes";
    }
    write(file, whole);
  }
  EXPECT_TRUE(store.load_latest());
}

TEST_F(Checkpoints, TheDamagedTensorIsNamed) {
  Store store(folder_);
  store.save(snapshot(1, 1));
  std::string whole = contents("step-1/state.safetensors");
  whole.back() = static_cast<char>(whole.back() ^ 1);
  write("step-1/state.safetensors", whole);
  EXPECT_FALSE(store.load_latest());
  EXPECT_THAT(said_, HasSubstr("model.w in state.safetensors"));
}

// Written by the code of each format; older ones must load for ever.
TEST_F(Checkpoints, ThoseOfEveryFormatLoad) {
  for (const char* format : {"format1", "format2"}) {
    const auto loaded = Store(
                            fs::path(tests::source_dir()) /
                            "tests/fixtures/checkpoint" / format)
                            .load_best();
    ASSERT_TRUE(loaded) << format;
    EXPECT_EQ(loaded->update, 12);
    EXPECT_EQ(loaded->epoch, 3U);
    EXPECT_EQ(loaded->journal_offset, 4711U);
    EXPECT_EQ(loaded->loop, R"({"best":0.5,"step":4})");
    EXPECT_EQ(loaded->loader, R"({"epoch":3,"samples_consumed":40})");
    ASSERT_EQ(loaded->tensors.size(), 3U);
    EXPECT_THAT(loaded->tensors.at("model.w").sizes, ElementsAre(2, 3));
    EXPECT_EQ(first(*loaded), 0.5);
  }
}

TEST_F(Checkpoints, ADamagedOneDoesNotCountAsOneThatStays) {
  {
    Store store(folder_);
    for (int i = 1; i <= 3; ++i)
      store.save(snapshot(i));
  }
  fs::resize_file(folder_ / "step-3/state.safetensors", 20);
  Store store(folder_); // as after a restart
  store.save(snapshot(4));
  EXPECT_THAT(store.list(), ElementsAre(2, 3, 4)) << "2 and 4 are good";
  store.save(snapshot(5));
  EXPECT_THAT(store.list(), ElementsAre(4, 5));
}

TEST_F(Checkpoints, TheBestByScoreStay) {
  Store store(folder_, {2, 2});
  const double scores[] = {1, 7, 3, 9, 2, 0, 1};
  for (int i = 0; i < 7; ++i) {
    Snapshot made = snapshot(i + 1);
    made.score = scores[i];
    store.save(judged(made, i == 1 || i == 3));
  }
  EXPECT_THAT(store.list(), ElementsAre(2, 4, 6, 7));
  EXPECT_EQ(store.load_best()->update, 4);
}

TEST_F(Checkpoints, OneThatWasSteppingAsideIsAsGoodAsAny) {
  Store store(folder_);
  store.save(snapshot(1, 1));
  store.save(judged(snapshot(2, 2), true));
  fs::rename(folder_ / "step-2", folder_ / "step-2.before");
  EXPECT_EQ(store.load_latest()->update, 2);
  EXPECT_EQ(store.load_best()->update, 2);
  EXPECT_THAT(store.list(), ElementsAre(1, 2));
  store.save(snapshot(3, 3));
  EXPECT_TRUE(fs::exists(folder_ / "step-2"));
  EXPECT_FALSE(fs::exists(folder_ / "step-2.before"));
}

// Killed between the two, and with nothing left to save.
TEST_F(Checkpoints, ARunThatGoesOnNamesWhatItFound) {
  Store store(folder_);
  store.save(judged(snapshot(1, 1), true));
  store.save(judged(snapshot(2, 2), true));
  write("latest", "step-1\n");
  write("best", "step-1\n");
  fs::create_directories(folder_ / ".step-3");
  Store next(folder_);
  next.recover(*next.load_latest());
  EXPECT_EQ(contents("latest"), "step-2\n");
  EXPECT_EQ(contents("best"), "step-2\n");
  EXPECT_FALSE(fs::exists(folder_ / ".step-3"));

  store.save(snapshot(3, 3));
  fs::rename(folder_ / "step-3", folder_ / "step-3.before");
  next.recover(*next.load_latest());
  EXPECT_EQ(contents("latest"), "step-3\n");
  EXPECT_TRUE(fs::exists(folder_ / "step-3"));
  EXPECT_EQ(contents("best"), "step-2\n") << "it was not the best";
}

TEST_F(Checkpoints, AHalfBuiltOneIsNoCheckpointAndGoes) {
  Store store(folder_);
  store.save(snapshot(1));
  fs::create_directories(folder_ / ".step-2");
  fs::create_directories(folder_ / "step-x");
  EXPECT_THAT(store.list(), ElementsAre(1));
  store.save(snapshot(3));
  EXPECT_FALSE(fs::exists(folder_ / ".step-2"));
}

TEST_F(Checkpoints, OneOfANewerTemperIsRefusedWithTheReason) {
  Store store(folder_);
  store.save(snapshot(1));
  std::string text = contents("step-1/state.json");
  const auto at = text.find("\"format\": 2");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 11, "\"format\": 9");
  write("step-1/state.json", text);
  EXPECT_FALSE(store.load_latest());
  EXPECT_THAT(said_, HasSubstr("a newer temper"));
}

TEST_F(Checkpoints, APlaceThatCannotBeWrittenSaysWhy) {
  write("", "");
  std::ofstream(folder_) << "a file";
  EXPECT_THROW(Store(folder_).save(snapshot(1)), Error);
}

} // namespace
} // namespace temper::checkpoint
