// A model that cannot be had, or does not fit the data, is refused before
// anything is trained.
#include "temper/train/run_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/graph/pt2.h"
#include "temper/model/zoo.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
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

TEST_F(RunModels, an_export_for_other_channels_is_refused) {
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
          HasSubstr("use a model for such data")));
}

TEST_F(RunModels, an_export_with_fewer_outputs_than_classes_wants_a_new_head) {
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

TEST_F(RunModels, weights_that_are_not_there_are_named) {
  config_.model.name = "cnn";
  config_.model.weights = (folder_.path() / "gone.safetensors").string();
  EXPECT_THAT(refusal(), HasSubstr("gone.safetensors"));
}

TEST_F(RunModels, weights_that_cannot_be_read_are_named) {
  config_.model.name = "cnn";
  for (const char* name : {"noise.safetensors", "noise.pth"}) {
    const auto path = folder_.path() / name;
    tests::write_bytes(path, "this is no file of weights, only some text");
    config_.model.weights = path.string();
    EXPECT_THAT(refusal(), HasSubstr(name));
  }
}

} // namespace
} // namespace temper::train
