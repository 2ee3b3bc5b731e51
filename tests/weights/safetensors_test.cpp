#include "temper/weights/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "temper/base/error.h"
#include "weights_files.h"

namespace temper::weights {
namespace {

using graph::DType;
using graph::Weights;
using testing::HasSubstr;

constexpr DType kEveryType[] = {
    DType::kUint8,
    DType::kInt8,
    DType::kInt16,
    DType::kInt32,
    DType::kInt64,
    DType::kFloat16,
    DType::kFloat32,
    DType::kFloat64,
    DType::kBool,
    DType::kBfloat16};

TEST(Safetensors, ATensorSpelledByHandIsRead) {
  const WeightsPlace place;
  const float value = 1.5F;
  std::string data(8, '\0');
  std::memcpy(data.data() + 4, &value, 4);
  const auto path = place.write(
      "w.safetensors",
      safetensors_bytes(
          R"({"__metadata__":{"format":"pt","by":"me"},)"
          R"("a.b":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}  )",
          data));
  Metadata metadata;
  const Weights weights = read_safetensors(path, &metadata);
  ASSERT_EQ(weights.size(), 1U);
  EXPECT_EQ(weights.at("a.b").sizes, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(floats_in(weights.at("a.b")), (std::vector<float>{0, 1.5F}));
  EXPECT_EQ(metadata, (Metadata{{"by", "me"}, {"format", "pt"}}));
}

TEST(Safetensors, FilesWithoutTensorsAreFiles) {
  const WeightsPlace place;
  EXPECT_TRUE(
      read_safetensors(place.write("e", safetensors_bytes("{}", ""))).empty());
  write_safetensors({}, place / "none.safetensors", {});
  EXPECT_TRUE(read_safetensors(place / "none.safetensors").empty());
  EXPECT_EQ(
      bytes_of_file(place / "none.safetensors"),
      safetensors_bytes("{}      ", ""));
}

TEST(Safetensors, ReadTensorsShareTheMappedFile) {
  const WeightsPlace place;
  write_safetensors(
      {{"a", floats({2}, {1, 2})}, {"b", floats({2}, {3, 4})}},
      place / "w.safetensors");
  const Weights weights = read_safetensors(place / "w.safetensors");
  EXPECT_EQ(weights.at("b").bytes.get() - weights.at("a").bytes.get(), 8)
      << "they do not lie in one piece: something was copied";
  std::filesystem::remove(place / "w.safetensors");
  EXPECT_EQ(floats_in(weights.at("b")), (std::vector<float>{3, 4}));
}

TEST(Safetensors, UnalignedTensorsAreLaidOutAligned) {
  const WeightsPlace place;
  std::string data(13, '\0');
  const double value = -2.25;
  std::memcpy(data.data() + 5, &value, 8);
  const auto path = place.write(
      "odd",
      safetensors_bytes(
          R"({"u":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
          R"("d":{"dtype":"F64","shape":[],"data_offsets":[5,13]}})",
          data));
  const Weights weights = read_safetensors(path);
  const auto* bytes = weights.at("d").bytes.get();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 8, 0U);
  EXPECT_EQ(std::memcmp(bytes, &value, 8), 0);
}

TEST(Safetensors, WrittenFilesHaveTheLayoutOfTheReference) {
  const WeightsPlace place;
  Weights weights;
  for (const DType type : kEveryType)
    weights[graph::name_of(type)] = graph::make_tensor(type, {1}).data;
  weights["a"] = graph::make_tensor(DType::kInt64, {}).data;
  write_safetensors(weights, place / "w.safetensors");
  const std::string bytes = bytes_of_file(place / "w.safetensors");
  // Widest first, equal types by name, the data eight bytes aligned.
  std::size_t at = 0;
  for (const char* name :
       {R"({"__metadata__":{"format":"pt"},)",
        R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]})",
        R"("int64":{"dtype":"I64","shape":[1],"data_offsets":[8,16]})",
        "\"float64\"",
        "\"float32\"",
        "\"int32\"",
        "\"bfloat16\"",
        "\"float16\"",
        "\"int16\"",
        "\"int8\"",
        "\"uint8\"",
        "\"bool\""}) {
    const auto found = bytes.find(name, at);
    ASSERT_NE(found, std::string::npos) << name;
    at = found;
  }
  EXPECT_EQ((bytes.size() - (8 + 8 + 8 + 4 + 4 + 2 + 2 + 2 + 3)) % 8, 0U);
}

TEST(Safetensors, WhatIsWrittenIsReadAndWrittenAlike) {
  const WeightsPlace place;
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Weights weights;
    for (std::size_t n = random() % 12; n > 0; --n) {
      std::vector<std::int64_t> sizes(random() % 4);
      for (auto& size : sizes)
        size = static_cast<std::int64_t>(random() % 5);
      const DType type = kEveryType[random() % std::size(kEveryType)];
      auto tensor = graph::make_tensor(type, sizes);
      for (std::size_t i = 0; i < tensor.data.byte_count; ++i)
        tensor.bytes[i] = static_cast<std::byte>(
            type == DType::kBool ? random() % 2 : random());
      std::string name = "layer.\xC3\xA9\"\\\n";
      name += std::to_string(random() % 100);
      weights[name] = tensor.data;
    }
    write_safetensors(weights, place / "a");
    const Weights read = read_safetensors(place / "a");
    ASSERT_EQ(read.size(), weights.size());
    for (const auto& [name, tensor] : weights) {
      ASSERT_EQ(read.count(name), 1U) << name;
      EXPECT_EQ(read.at(name).dtype, tensor.dtype);
      EXPECT_EQ(read.at(name).sizes, tensor.sizes);
      EXPECT_EQ(bytes_in(read.at(name)), bytes_in(tensor));
    }
    write_safetensors(read, place / "b");
    EXPECT_EQ(bytes_of_file(place / "a"), bytes_of_file(place / "b"));
  }
}

TEST(Safetensors, AFileCanBeReplacedWhileItsTensorsAreInUse) {
  const WeightsPlace place;
  write_safetensors({{"a", floats({1}, {1})}}, place / "w");
  const Weights old = read_safetensors(place / "w");
  write_safetensors({{"a", floats({1}, {2})}}, place / "w");
  EXPECT_EQ(floats_in(old.at("a")), std::vector<float>{1});
  EXPECT_EQ(
      floats_in(read_safetensors(place / "w").at("a")), std::vector<float>{2});
}

TEST(Safetensors, WritingTellsHowFarItIs) {
  const WeightsPlace place;
  std::uint64_t last = 0;
  std::uint64_t of = 0;
  write_safetensors(
      {{"a", floats({3}, {1, 2, 3})}, {"b", floats({1}, {1})}},
      place / "w",
      {},
      [&](std::uint64_t done, std::uint64_t total) {
        EXPECT_GT(done, last);
        last = done;
        of = total;
      });
  EXPECT_EQ(last, 16U);
  EXPECT_EQ(of, 16U);
}

TEST(Safetensors, AFolderThatIsNotThereIsASentence) {
  const WeightsPlace place;
  EXPECT_THROW(write_safetensors({}, place / "no/such"), Error);
  EXPECT_THROW(read_safetensors(place / "missing"), Error);
}

} // namespace
} // namespace temper::weights
