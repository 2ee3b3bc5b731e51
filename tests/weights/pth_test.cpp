// The fixtures are what torch.save makes: reference/pth_files.py.
#include "temper/weights/pth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "temper/base/error.h"
#include "temper/weights/pickle.h"
#include "tests/paths.h"
#include "weights_files.h"

namespace temper::weights {
namespace {

namespace fs = std::filesystem;
using graph::DType;
using graph::Weights;
using testing::AllOf;
using testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;

fs::path fixture(const std::string& name) {
  return tests::fixtures() / "pth" / (name + ".pth");
}

std::vector<std::string> names_of(const Weights& weights) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : weights)
    names.push_back(name);
  return names;
}

const std::vector<std::string> kNetwork{
    "0.bias",
    "0.weight",
    "1.bias",
    "1.num_batches_tracked",
    "1.running_mean",
    "1.running_var",
    "1.weight"};

// The error of reading it; fails when it is read.
std::string pth_refusal(const fs::path& path) {
  try {
    read_pth(path);
  } catch (const Error& error) {
    EXPECT_FALSE(error.hint().empty());
    return cat(error.what(), " ", error.hint());
  }
  ADD_FAILURE() << path << " was read";
  return "";
}

TEST(Pth, AStateDictIsRead) {
  for (const char* name : {"state_dict", "protocol4"}) {
    std::string wrapper;
    const auto weights = read_pth(fixture(name), &wrapper);
    EXPECT_EQ(names_of(weights), kNetwork);
    EXPECT_EQ(wrapper, "");
    EXPECT_EQ(weights.at("0.weight").sizes, (Sizes{2, 3}));
    EXPECT_EQ(
        floats_in(weights.at("0.weight")),
        (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(weights.at("1.num_batches_tracked").dtype, DType::kInt64);
    EXPECT_EQ(weights.at("1.num_batches_tracked").sizes, Sizes{});
  }
}

TEST(Pth, OneTensorAndParametersAreRead) {
  for (const char* name : {"one_tensor", "parameters", "extras"}) {
    const auto weights = read_pth(fixture(name));
    EXPECT_EQ(names_of(weights), std::vector<std::string>{"w"});
    EXPECT_EQ(
        floats_in(weights.at("w")).back(), weights.at("w").byte_count / 4 - 1);
  }
}

TEST(Pth, TheStateDictOfATrainingScriptIsFound) {
  std::string wrapper;
  EXPECT_EQ(names_of(read_pth(fixture("wrapped"), &wrapper)), kNetwork);
  EXPECT_EQ(wrapper, "state_dict");
  EXPECT_EQ(names_of(read_pth(fixture("model_key"), &wrapper)), kNetwork);
  EXPECT_EQ(wrapper, "model");
}

TEST(Pth, EveryTypeComesAsItIs) {
  const auto weights = read_pth(fixture("types"));
  EXPECT_EQ(weights.size(), 10U);
  for (const auto& [name, tensor] : weights)
    EXPECT_EQ(graph::name_of(tensor.dtype), name);
  EXPECT_EQ(
      bytes_in(weights.at("int16")), std::string("\0\0\1\0\2\0\3\0\4\0", 10));
  EXPECT_EQ(bytes_in(weights.at("bool")), std::string("\1\0\1", 3));
}

TEST(Pth, ViewsAreLaidOutInOrder) {
  const auto weights = read_pth(fixture("views"));
  EXPECT_EQ(weights.at("transposed").sizes, (Sizes{6, 4}));
  EXPECT_THAT(
      floats_in(weights.at("transposed")),
      testing::ElementsAre(
          0,
          6,
          12,
          18,
          1,
          7,
          13,
          19,
          2,
          8,
          14,
          20,
          3,
          9,
          15,
          21,
          4,
          10,
          16,
          22,
          5,
          11,
          17,
          23));
  EXPECT_EQ(
      floats_in(weights.at("slice")),
      (std::vector<float>{8, 9, 10, 14, 15, 16}));
  EXPECT_EQ(
      floats_in(weights.at("row")),
      (std::vector<float>{12, 13, 14, 15, 16, 17}));
  EXPECT_EQ(floats_in(weights.at("scalar")), std::vector<float>{23});
  EXPECT_EQ(weights.at("empty").byte_count, 0U);
  EXPECT_THAT(
      floats_in(weights.at("channels_last")),
      testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(weights.at("row").bytes.get() - weights.at("tied").bytes.get(), 48)
      << "what lies in order is shared, not copied";
}

TEST(Pth, WhatWouldRunCodeIsRefusedByName) {
  EXPECT_THAT(
      pth_refusal(fixture("harmful")),
      AllOf(
          HasSubstr("it wants to run posix.system"),
          HasSubstr("torch.save(model.state_dict()")));
  EXPECT_THAT(
      pth_refusal(fixture("harmful_beside")), HasSubstr("posix.system"));
  EXPECT_THAT(
      pth_refusal(fixture("whole_model")),
      AllOf(
          HasSubstr("whole Python object (torch.nn.modules.container.Seq"),
          HasSubstr("torch.save(model.state_dict()")));
}

TEST(Pth, OtherKindsOfFilesSayWhatTheyAre) {
  EXPECT_THAT(
      pth_refusal(fixture("legacy")),
      AllOf(HasSubstr("before 1.6"), HasSubstr("weights_only=True")));
  EXPECT_THAT(pth_refusal(fixture("script")), HasSubstr("TorchScript program"));
  EXPECT_THAT(pth_refusal(fixture("no_tensors")), HasSubstr("no state dict"));
  EXPECT_THAT(pth_refusal(fixture("a_list")), HasSubstr("no state dict"));
  EXPECT_THAT(pth_refusal(fixture("big_endian")), HasSubstr("byte order"));
  EXPECT_THAT(
      pth_refusal(fixture("expanded")), HasSubstr("larger than the bytes"));
  const WeightsPlace place;
  EXPECT_THROW(read_pth(place / "missing.pth"), Error);
  pth_refusal(place.write("text.pth", "these are no weights"));
}

// Pickles spelled by hand: each must end in a sentence.
TEST(Pickle, DamagedPicklesAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "ends within"},
      {"\x80\x02", "ends within"},
      {"\x80\x09N.", "protocol"},
      {"\x80\x02.", "one value"},
      {"NN.", "one value"},
      {"(N.", "one value"},
      {"R.", "lacks a value"},
      {"NR.", "lacks a value"},
      {"NNR.", "no function"},
      {"b.", "lacks a value"},
      {"\x87.", "lacks a value"},
      {"N(\x85.", "lacks a value"},
      {"t.", "lacks a mark"},
      {"(e.", "lacks a value"},
      {"e.", "lacks a mark"},
      {"N(Ne.", "holds nothing"},
      {"}(Nu.", "key without a value"},
      {"](NNu.", "holds nothing"},
      {"}NNs(Na.", "lacks a value"},
      {"h\x05.", "never kept"},
      {"j\xff\xff\xff\xff.", "never kept"},
      {"q\x05.", "lacks a value"},
      {"X\xff\xff\xff\x7f"
       "ab.",
       "ends within"},
      {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
       "a.",
       "ends within"},
      {"\x8a\x09"
       "123456789.",
       "more than 64 bits"},
      {"cos\nsystem", "no end"},
      {"cos\nsystem\n.", "os.system"},
      {"\x8c\x02os\x8c\x06system\x93.", "os.system"},
      {"NN\x93.", "without a name"},
      {"NQ.", "refers to its bytes"},
      {")Q.", "refers to its bytes"},
      {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "unknown way"},
      {"ctorch._utils\n_rebuild_parameter\n)R.", "without a tensor"},
      {"ccollections\nOrderedDict\n]\x85R.", "made of something else"},
      {"i", "that state dicts do not use"},
      {"\x81", "that state dicts do not use"},
  };
  for (const auto& [bytes, sentence] : cases) {
    SCOPED_TRACE(testing::PrintToString(bytes));
    try {
      const Pickle pickle(
          {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
          "f.pth");
      ADD_FAILURE() << "it was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(sentence));
    }
  }
}

TEST(Pickle, ADictMayHoldItself) {
  const std::string whole("}q\x01X\x01\0\0\0ah\x01s.", 13);
  const Pickle pickle(
      {reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()}, "f");
  EXPECT_EQ(pickle.value().items.at(1), &pickle.value());
}

TEST(Pickle, ManyValuesAreTooMany) {
  const std::string bytes(5'000'000, ')');
  EXPECT_THROW(
      Pickle(
          {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
          "f"),
      Error);
}

// Every byte of a real file's pickle changed: a sentence or a state dict.
TEST(Pth, NoChangedByteDoesHarm) {
  const WeightsPlace place;
  const std::string whole = bytes_of_file(fixture("views"));
  std::mt19937 random(3);
  int read = 0;
  for (int round = 0; round < 600; ++round) {
    std::string bytes = whole;
    for (std::size_t n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      read_pth(place.write("x.pth", bytes));
      ++read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 0) << "padding may change";
}

} // namespace
} // namespace temper::weights
