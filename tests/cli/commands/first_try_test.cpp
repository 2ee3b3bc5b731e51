// Data as people have it, trained on at the first try or refused with all that
// is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>

#include "temper/base/text.h"
#include "tests/cli/run_temper.h"
#include "tests/data/small_image.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FirstTry : public testing::Test {
 protected:
  ProcessResult train(std::vector<std::string> arguments) const {
    const std::vector<std::string> before{
        "train",
        "--epochs",
        "1",
        "--set",
        "run.dir=" + runs(),
        "--set",
        "track.mlflow=off",
        "--set",
        "plan.seconds=0",
        "--data"};
    arguments.insert(arguments.begin(), before.begin(), before.end());
    return tests::run_temper(
        {"env", "TEMPER_CACHE_DIR=" + temp_.text("cache")}, arguments);
  }
  std::string runs() const {
    return temp_.text("runs");
  }
  // Images of 6 x 6 in three classes.
  std::string archive(const std::string& name) const {
    std::string tar;
    for (int i = 0; i < 30; ++i) {
      tar += data::tar_member(cat(i, ".ppm"), data::small_image(9 * i, 6, 6));
      tar += data::tar_member(cat(i, ".cls"), cat(i % 3));
    }
    return temp_.write(name, tar + data::tar_end()).string();
  }
  // Float32 [40, 3] with one NaN, labels 0 and 1.
  std::string array_with_nan(int row) const {
    std::vector<float> numbers;
    std::vector<std::int64_t> labels;
    for (int i = 0; i < 40; ++i) {
      for (int c = 0; c < 3; ++c)
        numbers.push_back(static_cast<float>(i % 2 * 2 - 1));
      labels.push_back(i % 2);
    }
    numbers[static_cast<std::size_t>(row) * 3 + 1] =
        std::numeric_limits<float>::quiet_NaN();
    npy("x.npy", "<f4", "(40, 3)", numbers.data(), numbers.size() * 4);
    npy("x_labels.npy", "<i8", "(40,)", labels.data(), labels.size() * 8);
    return temp_.text("x.npy");
  }
  void npy(
      const std::string& name,
      const std::string& type,
      const std::string& shape,
      const void* values,
      std::size_t bytes) const {
    std::string header =
        cat("{'descr': '",
            type,
            "', 'fortran_order': False, 'shape': ",
            shape,
            ", }");
    header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 0xFF);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    file.append(static_cast<const char*>(values), bytes);
    temp_.write(name, file);
  }

  tests::TempFolder temp_;
};

TEST_F(FirstTry, ImagesOfOneSizeInATarNeedNoSize) {
  const auto run = train({archive("a.tar")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("3 x 6 x 6"));
}

TEST_F(FirstTry, FloatArraysOfAnyRankGoIntoTheModelsThatCanTakeThem) {
  constexpr int kSamples = 20;
  std::vector<std::int64_t> labels;
  for (int i = 0; i < kSamples; ++i)
    labels.push_back(i % 2);
  npy("x_labels.npy", "<i8", "(20,)", labels.data(), labels.size() * 8);
  const std::vector<std::pair<std::string, std::size_t>> shapes{
      {"(20, 3, 8, 8)", 192}, {"(20, 8, 8, 3)", 192}, {"(20, 8, 8)", 64}};
  for (const auto& [shape, numbers] : shapes) {
    std::vector<float> values(kSamples * numbers);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 7) / 7.0F;
    npy("x.npy", "<f4", shape, values.data(), values.size() * 4);
    for (const char* model : {"", "cnn", "mlp"}) {
      std::vector<std::string> line{temp_.text("x.npy")};
      if (*model != 0) line.insert(line.end(), {"--model", model});
      const auto run = train(line);
      EXPECT_EQ(run.code, 0) << shape << " " << model << "\n" << run.err;
      EXPECT_THAT(tests::unwrapped(run.out), HasSubstr("2 classes"));
    }
  }
}

TEST_F(FirstTry, ImagesOfDifferentSizesAreNamed) {
  temp_.write("photos/cat/1.ppm", data::small_image(1, 6, 6));
  temp_.write("photos/dog/2.ppm", data::small_image(2, 8, 6));
  temp_.write("photos/dog/3.ppm", data::small_image(3, 8, 6));
  const auto run =
      train({temp_.text("photos"), "--set", "data.val_fraction=0"});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr("different sizes"),
          HasSubstr("1.ppm is 6 x 6 and"),
          HasSubstr("2.ppm 8 x 6"),
          HasSubstr("data.image_size")));
}

TEST_F(FirstTry, AProgramThatLeavesThingsOpenIsToldAllOfThemAtOnce) {
  const std::string program = "cmd:cat " + archive("a.tar");
  const auto run = train({program});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr("labels up to 2"),
          HasSubstr("model.classes = 3"),
          HasSubstr("train.max_steps"),
          HasSubstr("schedule.name = \"constant\""),
          Not(HasSubstr("data.image_size"))));
  EXPECT_FALSE(fs::exists(runs())) << "no run was begun";
  const auto trains = train(
      {program, "--set", "model.classes=3", "--set", "schedule.name=constant"});
  EXPECT_EQ(trains.code, 0) << trains.err;
}

TEST_F(FirstTry, TheSampleWithANanIsNamed) {
  const std::string array = array_with_nan(17);
  const std::vector<std::string> all{
      array, "--set", "data.val_fraction=0", "--set", "train.batch=8"};
  const auto run = train(all);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out + run.err,
      AllOf(
          HasSubstr("x.npy[17] cannot be used: input 2 of 3 is NaN."),
          Not(HasSubstr("Samples of the batch"))));
  auto skipping = all;
  skipping.insert(skipping.end(), {"--set", "data.bad=skip"});
  const auto skipped = train(skipping);
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_THAT(
      skipped.out + skipped.err,
      AllOf(HasSubstr("Skipped."), Not(HasSubstr("became nan"))));
}

TEST_F(FirstTry, AnAugmentationThatChangesNothingIsSaid) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 40; ++i)
    rows += cat(i, ",", i % 2 == 0 ? "a" : "b", "\n");
  const auto run = train(
      {temp_.write("a.csv", rows).string(), "--set", "data.augment=cifar"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out + run.err, HasSubstr("data.augment = \"cifar\" changes nothing"));
}

} // namespace
} // namespace temper
