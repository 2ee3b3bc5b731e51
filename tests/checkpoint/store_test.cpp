#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST_F(Checkpoints, what_was_saved_is_loaded) {
  Store store(folder_, 2);
  EXPECT_FALSE(store.load_latest());
  store.save(snapshot(12, 2.5), false);
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

TEST_F(Checkpoints, the_last_ones_and_the_best_stay) {
  Store store(folder_, 2);
  for (int i = 1; i <= 6; ++i)
    store.save(snapshot(i * 10, static_cast<float>(i)), i == 2);
  EXPECT_THAT(store.list(), ElementsAre(20, 50, 60));
  EXPECT_EQ(first(*store.load_best()), 2);
}

TEST_F(Checkpoints, never_fewer_than_two_stay) {
  Store store(folder_, 0);
  for (int i = 1; i <= 3; ++i)
    store.save(snapshot(i), false);
  EXPECT_THAT(store.list(), ElementsAre(2, 3));
}

TEST_F(Checkpoints, the_same_update_again_takes_its_place) {
  Store store(folder_, 2);
  store.save(snapshot(5, 1), false);
  store.save(snapshot(5, 9), false);
  EXPECT_THAT(store.list(), ElementsAre(5));
  EXPECT_EQ(first(*store.load_latest()), 9);
}

TEST_F(Checkpoints, a_damaged_one_is_passed_over_and_told) {
  Store store(folder_, 2);
  store.save(snapshot(1, 1), false);
  store.save(snapshot(2, 2), false);
  fs::resize_file(folder_ / "step-2/state.safetensors", 20);
  EXPECT_EQ(first(*store.load_latest()), 1);
  EXPECT_THAT(said_, HasSubstr("step-2"));
}

// The whole of both files: no flip of one bit may pass.
TEST_F(Checkpoints, every_flipped_bit_is_noticed) {
  Store store(folder_, 2);
  store.save(snapshot(1, 1), false);
  for (const char* file : {"step-1/state.safetensors", "step-1/state.json"}) {
    const std::string whole = contents(file);
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 8)));
      write(file, flipped);
      const auto loaded = store.load_latest();
      // A changed space between two values changes nothing.
      if (loaded) {
        EXPECT_EQ(first(*loaded), 1) << file << " byte " << byte;
        EXPECT_EQ(loaded->update, 1) << file << " byte " << byte;
        EXPECT_EQ(loaded->loop, snapshot(1).loop) << file << " byte " << byte;
      }
    }
    write(file, whole);
  }
  EXPECT_TRUE(store.load_latest());
}

TEST_F(Checkpoints, a_half_built_one_is_no_checkpoint_and_goes) {
  Store store(folder_, 2);
  store.save(snapshot(1), false);
  fs::create_directories(folder_ / ".step-2");
  fs::create_directories(folder_ / "step-x");
  EXPECT_THAT(store.list(), ElementsAre(1));
  store.save(snapshot(3), false);
  EXPECT_FALSE(fs::exists(folder_ / ".step-2"));
}

TEST_F(Checkpoints, one_of_a_newer_temper_is_refused_with_the_reason) {
  Store store(folder_, 2);
  store.save(snapshot(1), false);
  std::string text = contents("step-1/state.json");
  const auto at = text.find("\"format\": 1");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 11, "\"format\": 9");
  write("step-1/state.json", text);
  EXPECT_FALSE(store.load_latest());
  EXPECT_THAT(said_, HasSubstr("a newer temper"));
}

TEST_F(Checkpoints, a_place_that_cannot_be_written_says_why) {
  write("", "");
  std::ofstream(folder_) << "a file";
  EXPECT_THROW(Store(folder_, 2).save(snapshot(1), false), Error);
}

} // namespace
} // namespace temper::checkpoint
