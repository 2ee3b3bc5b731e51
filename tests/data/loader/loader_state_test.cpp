#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loader_samples.h"
#include "temper/data/loader/stream_loader.h"

namespace temper::data {
namespace {

LoaderState some_state() {
  LoaderState state;
  state.seed = 0xFFFFFFFFFFFFFFFF;
  state.epoch = 12;
  state.samples_consumed = 12345;
  state.dataset_size = 50000;
  state.dataset_fingerprint = 0xFEDCBA9876543210;
  state.pipeline_hash = 1;
  return state;
}

TEST(LoaderState, SurvivesJson) {
  const LoaderState state = some_state();
  const std::string text = state.to_json();
  EXPECT_LT(text.size(), 250U);
  const LoaderState read = LoaderState::from_json(text);
  EXPECT_EQ(read.seed, state.seed);
  EXPECT_EQ(read.epoch, state.epoch);
  EXPECT_EQ(read.samples_consumed, state.samples_consumed);
  EXPECT_EQ(read.dataset_size, state.dataset_size);
  EXPECT_EQ(read.dataset_fingerprint, state.dataset_fingerprint);
  EXPECT_EQ(read.pipeline_hash, state.pipeline_hash);
}

TEST(LoaderState, RefusesWhatIsNotExactlyOne) {
  const std::string text = some_state().to_json();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  for (const auto& bad : {
           std::string(),
           std::string("null"),
           std::string("[1,2]"),
           text + "x",
           text.substr(0, text.size() - 1),
           std::string(5000, ' ') + text,
           with("\"format\":2", "\"format\":3"),
           with("\"epoch\":12", "\"epoch\":-12"),
           with("\"epoch\":12", "\"epoch\":4294967296"),
           with("\"epoch\":12", "\"epoch\":1.5"),
           with("\"epoch\":12", "\"epoch\":12,\"more\":1"),
           with("\"epoch\":12,", ""),
           with("12345", "\"12345\""),
           with("12345", "99999999999999999999"),
           with("0xfedcba9876543210", "0xfedcba98765432100"),
           with("0xfedcba9876543210", "0xFEDC"),
           with("0xfedcba9876543210", "17"),
       })
    EXPECT_THROW(LoaderState::from_json(bad), Error) << bad;
}

// Its fingerprint followed from names and sizes, and cannot be compared.
TEST(LoaderState, OneOfBeforeContentsCountedSaysNothingOfTheData) {
  std::string text = some_state().to_json();
  text.replace(text.find("\"format\":2"), 10, "\"format\":1");
  const LoaderState read = LoaderState::from_json(text);
  EXPECT_EQ(read.dataset_fingerprint, 0U);
  EXPECT_EQ(read.samples_consumed, 12345);
}

TEST(LoaderState, EveryTruncationIsRefused) {
  const std::string text = some_state().to_json();
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_THROW(LoaderState::from_json(text.substr(0, length)), Error);
}

TEST(StreamState, SurvivesJsonWithAnyBytesOfTheSource) {
  StreamState state;
  state.seed = 5;
  state.samples_consumed = 10;
  EXPECT_EQ(StreamState::from_json(state.to_json()).source, std::nullopt);
  state.source = std::string("a\0\xFF\"", 4);
  const StreamState read = StreamState::from_json(state.to_json());
  EXPECT_EQ(read.source, state.source);
  EXPECT_EQ(read.samples_consumed, 10);
  EXPECT_THROW(StreamState::from_json("{\"format\":1}"), Error);
}

} // namespace
} // namespace temper::data
