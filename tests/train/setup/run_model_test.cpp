// A model that cannot be had, or does not fit the data, is refused before
// anything is trained.
#include "temper/train/setup/run_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "temper/weights/safetensors.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using tests::complaint;

RunData gray_images() {
  RunData data;
  data.source = "digits";
  data.info.input = data::Input::image;
  data.info.target = data::Target::label;
  data.info.classes = {"a", "b", "c"};
  data.input_shape = {1, 8, 8};
  return data;
}

class RunModels : public ::testing::Test {
 protected:
  std::string refusal() const {
    return complaint([&] { choose_model(config_, gray_images()); });
  }

  tests::TempFolder folder_;
  config::Config config_;
};

TEST_F(RunModels, AnExportForOtherChannelsIsRefused) {
  model::ZooOptions colour;
  colour.name = "cnn";
  colour.image_size = 8;
  colour.channels = 3;
  colour.classes = 3;
  const auto path = folder_.path() / "colour.pt2";
  graph::write_pt2(model::build(colour), path);
  config_.model.name = path.string();
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr("[train] colour.pt2 takes inputs of 3 x 8 x 8, and digits "
                    "has 1 x 8 x 8."),
          HasSubstr("wants 3 channels, and the images have 1"),
          testing::Not(HasSubstr("image_size"))));
}

TEST_F(RunModels, AnExportForOtherSizesNamesTheSize) {
  model::ZooOptions large;
  large.name = "cnn";
  large.image_size = 16;
  large.channels = 1;
  large.classes = 3;
  const auto path = folder_.path() / "large.pt2";
  graph::write_pt2(model::build(large), path);
  config_.model.name = path.string();
  EXPECT_THAT(refusal(), HasSubstr("Set data.image_size = 16."));
}

TEST_F(RunModels, ATaskWithoutClassesDoesNotAskForThem) {
  model::ZooOptions two;
  two.name = "cnn";
  two.image_size = 8;
  two.channels = 1;
  two.classes = 2;
  const auto path = folder_.path() / "two.pt2";
  graph::write_pt2(model::build(two), path);
  config_.model.name = path.string();
  config_.train.task = "autoencode";
  EXPECT_EQ(choose_model(config_, gray_images()).outputs, 2);
}

TEST_F(RunModels, AnExportWithFewerOutputsThanClassesWantsANewHead) {
  model::ZooOptions two;
  two.name = "cnn";
  two.image_size = 8;
  two.channels = 1;
  two.classes = 2;
  const auto path = folder_.path() / "two.pt2";
  graph::write_pt2(model::build(two), path);
  config_.model.name = path.string();
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr("two.pt2 has 2 outputs, and digits has 3 classes."),
          HasSubstr("model.head = \"new\"")));
  config_.model.head = "new";
  EXPECT_EQ(choose_model(config_, gray_images()).outputs, 3);
}

TEST_F(RunModels, AnExportWithOtherOutputsThanNumbersToPredictWantsANewHead) {
  model::ZooOptions ten;
  ten.name = "cnn";
  ten.image_size = 8;
  ten.channels = 1;
  ten.classes = 10;
  const auto path = folder_.path() / "ten.pt2";
  graph::write_pt2(model::build(ten), path);
  config_.model.name = path.string();
  RunData data = gray_images();
  data.info.target = data::Target::numbers;
  data.info.target_size = 5;
  data.info.classes.clear();
  EXPECT_THAT(
      complaint([&] { choose_model(config_, data); }),
      AllOf(
          HasSubstr("has 10 outputs, and digits has 5 numbers to predict."),
          HasSubstr("model.head = \"new\"")));
  config_.model.head = "new";
  EXPECT_EQ(choose_model(config_, data).outputs, 5);
}

TEST_F(RunModels, AnExportForOtherSequencesNamesTheirLength) {
  model::ZooOptions text;
  text.name = "gpt_tiny";
  text.vocabulary = 7;
  text.context = 32;
  const auto path = folder_.path() / "text.pt2";
  graph::write_pt2(model::build(text), path);
  config_.model.name = path.string();
  RunData data;
  data.source = "text:a.txt";
  data.info.input = data::Input::tokens;
  data.info.target = data::Target::tokens;
  data.info.vocabulary = 7;
  data.input_shape = {128};
  EXPECT_THAT(
      complaint([&] { choose_model(config_, data); }),
      HasSubstr("Set data.sequence = 32."));
}

TEST_F(RunModels, WeightsThatAreNotThereAreNamed) {
  config_.model.name = "cnn";
  config_.model.weights = (folder_.path() / "gone.safetensors").string();
  EXPECT_THAT(refusal(), HasSubstr("gone.safetensors"));
}

TEST_F(RunModels, WeightsThatCannotBeReadAreNamed) {
  config_.model.name = "cnn";
  for (const char* name : {"noise.safetensors", "noise.pth"}) {
    const auto path = folder_.path() / name;
    tests::write_bytes(path, "this is no file of weights, only some text");
    config_.model.weights = path.string();
    EXPECT_THAT(refusal(), HasSubstr(name));
  }
}

RunData photo_data(std::int64_t size) {
  RunData data = gray_images();
  data.input_shape = {3, size, size};
  return data;
}

// Weights of a resnet18 for 1,000 classes, all of one value, as the store has
// them.
class NamedWeights : public RunModels {
 protected:
  NamedWeights() {
    weights::write_safetensors(source().weights, folder_ / "here.safetensors");
  }
  static const graph::Program& source() {
    static const graph::Program made = [] {
      model::ZooOptions options;
      options.name = "resnet18";
      options.image_size = 96;
      options.channels = 3;
      options.classes = 1000;
      options.seed = 9;
      return model::build(options);
    }();
    return made;
  }
  WeightsStore store(bool here) const {
    WeightsStore made;
    made.find = [this, here](const std::string& model, const std::string&)
        -> std::optional<std::filesystem::path> {
      EXPECT_EQ(model, "resnet18");
      return here ? std::optional(folder_ / "here.safetensors") : std::nullopt;
    };
    made.get = [this](const std::string&, const std::string&) {
      return folder_ / "here.safetensors";
    };
    return made;
  }
  // Whether that tensor is the store's.
  bool starts_from_it(const RunModel& model, const char* name) const {
    const auto& mine = model.program->weights.at(name);
    const auto& theirs = source().weights.at(name);
    return mine.byte_count == theirs.byte_count &&
        std::memcmp(mine.bytes.get(), theirs.bytes.get(), mine.byte_count) == 0;
  }
};

TEST_F(NamedWeights, ImagenetGivesTheWeightsAndALastLayerThatFits) {
  config_.model.name = "resnet18";
  config_.model.weights = "imagenet";
  const RunModel model = choose_model(config_, photo_data(96), store(false));
  EXPECT_EQ(model.outputs, 3);
  EXPECT_EQ(model.weights, "imagenet");
  EXPECT_TRUE(starts_from_it(model, "layer1.0.conv1.weight"));
  EXPECT_FALSE(starts_from_it(model, "fc.weight"));
  config_.model.name = "cnn";
  EXPECT_THAT(
      complaint([&] { choose_model(config_, photo_data(96), store(false)); }),
      HasSubstr("no weights \"imagenet\" for cnn"));
  config_.model.name = "resnet18";
  config_.model.stem = "cifar";
  EXPECT_THAT(
      complaint([&] { choose_model(config_, photo_data(96), store(false)); }),
      HasSubstr("the model's own first layer"));
}

TEST_F(NamedWeights, PhotographsGetAResnetThatStartsFromWhatIsHere) {
  const RunModel here = choose_model(config_, photo_data(96), store(true));
  EXPECT_EQ(here.name, "resnet18");
  EXPECT_EQ(here.weights, "imagenet");
  EXPECT_TRUE(starts_from_it(here, "layer1.0.conv1.weight"));
  EXPECT_THAT(here.notes, Contains(HasSubstr("on this machine already")));
  const RunModel scratch = choose_model(config_, photo_data(96), store(false));
  EXPECT_EQ(scratch.name, "resnet18");
  EXPECT_EQ(scratch.weights, "");
  EXPECT_FALSE(starts_from_it(scratch, "layer1.0.conv1.weight"));
  EXPECT_EQ(choose_model(config_, photo_data(32), store(true)).weights, "");
  // A model that is named is taken as it is.
  config_.model.name = "resnet18";
  EXPECT_EQ(choose_model(config_, photo_data(96), store(true)).weights, "");
}

TEST_F(NamedWeights, SmallPhotographsTakeThemIntoTheWholeNetwork) {
  config_.model.weights = "imagenet";
  const RunModel model = choose_model(config_, photo_data(32), store(false));
  EXPECT_TRUE(starts_from_it(model, "layer1.0.conv1.weight"));
}

TEST_F(NamedWeights, ARunThatGoesOnAsksForNone) {
  config_.model.name = "resnet18";
  config_.model.weights = "imagenet";
  config_.model.freeze = {"backbone"};
  WeightsStore gone;
  gone.get = [](const std::string&,
                const std::string&) -> std::filesystem::path {
    throw Error("they are gone");
  };
  gone.later = true;
  const RunModel model = choose_model(config_, photo_data(96), gone);
  EXPECT_EQ(model.outputs, 3);
  EXPECT_THAT(model.notes, Not(Contains(HasSubstr("random"))));
}

std::vector<std::int64_t> first_filters(const RunModel& model) {
  return model.program->weights.at("conv1.weight").sizes;
}

TEST_F(RunModels, SmallColourImagesGetANarrowResnetThatKeepsThemWhole) {
  using Sizes = std::vector<std::int64_t>;
  const auto images = [](std::int64_t count) {
    RunData data = photo_data(32);
    data.train_samples = count;
    return data;
  };
  const RunModel small = choose_model(config_, images(50'000));
  EXPECT_EQ(small.name, "resnet18");
  EXPECT_EQ(first_filters(small), (Sizes{16, 3, 3, 3}));
  // An epoch over fewer images leaves time for a wider one.
  const RunModel half = choose_model(config_, images(10'000));
  EXPECT_EQ(first_filters(half), (Sizes{32, 3, 3, 3}));
  EXPECT_THAT(half.notes, Contains(HasSubstr("half of its width")));
  const RunModel whole = choose_model(config_, images(4'000));
  EXPECT_EQ(first_filters(whole), (Sizes{64, 3, 3, 3}));
  EXPECT_THAT(whole.notes, Not(Contains(HasSubstr("of its width"))));
  EXPECT_THAT(small.notes, Contains(HasSubstr("a quarter of its width")));
  // The same pictures as an array of numbers.
  RunData array = photo_data(32);
  array.info.input = data::Input::numbers;
  EXPECT_EQ(first_filters(choose_model(config_, array)), (Sizes{16, 3, 3, 3}));
  array.input_shape = {3, 96, 96};
  EXPECT_EQ(first_filters(choose_model(config_, array)), (Sizes{64, 3, 7, 7}));
  // A width that was asked for stays; so does a model that is named.
  config_.model.width = 0.5;
  EXPECT_EQ(
      first_filters(choose_model(config_, photo_data(32))),
      (Sizes{32, 3, 3, 3}));
  config_.model.width = 1;
  config_.model.name = "resnet18";
  EXPECT_EQ(
      first_filters(choose_model(config_, photo_data(32))),
      (Sizes{64, 3, 7, 7}));
}

TEST_F(RunModels, DigitsAndTinyImagesGetACnn) {
  RunData digits = gray_images();
  digits.input_shape = {1, 28, 28};
  EXPECT_EQ(choose_model(config_, digits).name, "cnn");
  EXPECT_EQ(choose_model(config_, photo_data(16)).name, "cnn");
}

TEST_F(RunModels, AFrozenPartThatIsRandomIsTold) {
  config_.model.name = "cnn";
  config_.model.freeze = {"backbone"};
  EXPECT_THAT(
      choose_model(config_, gray_images()).notes,
      Contains(HasSubstr("weights that are still random")));
}

TEST_F(RunModels, AModelThatIsFrozenWholeIsRefused) {
  config_.model.name = "cnn";
  config_.model.freeze = {"*"};
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr("[train] nothing is left to train: model.freeze = [\"*\"]"),
          HasSubstr("all but the last layer")));
}

TEST_F(RunModels, FewerOutputsThanClassesAreFoundBeforeTheRun) {
  config_.model.name = "cnn";
  config_.model.classes = 2;
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr("[train] model.classes = 2, and digits has 3 classes."),
          HasSubstr("Leave model.classes out")));
  config_.model.classes = 5;
  EXPECT_THAT(
      choose_model(config_, gray_images()).notes,
      Contains("model.classes = 5 for 3 classes: the last 2 never occur"));
  config_.model.classes = 3;
  EXPECT_THAT(choose_model(config_, gray_images()).notes, ::testing::IsEmpty());
}

TEST_F(RunModels, OutputsThatNoClassHasAreTold) {
  model::ZooOptions ten;
  ten.name = "cnn";
  ten.image_size = 8;
  ten.channels = 1;
  ten.classes = 10;
  const auto path = folder_.path() / "ten.pt2";
  graph::write_pt2(model::build(ten), path);
  config_.model.name = path.string();
  EXPECT_THAT(
      choose_model(config_, gray_images()).notes,
      Contains(AllOf(
          HasSubstr("ten.pt2 has 10 outputs for 3 classes"),
          HasSubstr("model.head = \"new\""))));

  // Several labels at once come as numbers; a new last layer fits them, too.
  RunData several = gray_images();
  several.info.target = data::Target::numbers;
  several.info.target_size = 5;
  several.info.classes.clear();
  config_.train.loss = "bce";
  config_.model.head = "new";
  EXPECT_EQ(choose_model(config_, several).outputs, 5);
}

} // namespace
} // namespace temper::train
