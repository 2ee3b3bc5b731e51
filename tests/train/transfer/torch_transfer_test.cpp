// Runs with a frozen part, from config to checkpoint, on LibTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstring>
#include <map>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/checkpoint/checkpoint.h"
#include "temper/journal/journal.h"
#include "temper/machine/probe.h"
#include "temper/model/export/export.h"
#include "temper/model/zoo/zoo.h"
#include "temper/train/engine/features.h"
#include "temper/train/run/run.h"
#include "temper/train/setup/run_model.h"
#include "temper/train/transfer/frozen_split.h"
#include "temper/weights/load_weights.h"
#include "tests/complaint.h"
#include "tests/data/content/edited_sources.h"
#include "tests/temp_folder.h"

namespace temper::train {
namespace {

using testing::Contains;
using testing::HasSubstr;

bool same_tensor_bits(const graph::TensorData& a, const graph::TensorData& b) {
  return a.byte_count == b.byte_count &&
      std::memcmp(a.bytes.get(), b.bytes.get(), a.byte_count) == 0;
}

struct Ran {
  RunResult result;
  std::vector<double> losses;
  graph::Weights state; // of the last checkpoint
};

// A narrow ResNet-18 on made-up images of 16 x 16, with a cache of its own.
class Transfer : public ::testing::Test {
 protected:
  Transfer() {
    ::setenv("TEMPER_CACHE_DIR", folder_.text("cache").c_str(), 1);
    config_.device = "cpu";
    config_.threads = 1;
    config_.run.dir = folder_.text("runs");
    config_.data.source = "synthetic:images=60,size=16,classes=4";
    config_.model.name = "resnet18";
    config_.model.stem = "cifar";
    config_.model.width = 0.125;
    config_.model.freeze = {"backbone"};
    config_.train.epochs = 3;
    config_.train.batch = 16;
    config_.train.log_every = 1;
    config_.optimizer.name = "adam";
    config_.optimizer.lr = 0.01;
    config_.loader.workers = 1;
  }
  ~Transfer() override {
    ::unsetenv("TEMPER_CACHE_DIR");
  }

  RunRequest request() const {
    static const machine::Machine here = machine::probe(".");
    RunRequest made;
    made.config = config_;
    made.machine = here;
    return made;
  }
  static Ran read(RunResult result) {
    Ran ran;
    for (const auto& event : journal::read_journal(result.directory.journal()))
      if (event.kind == "step") ran.losses.push_back(*event.number("loss"));
    ran.state = checkpoint::Store(result.directory.checkpoints())
                    .load_latest()
                    ->tensors;
    ran.result = std::move(result);
    return ran;
  }
  Ran run() const {
    return read(train::run(request()));
  }
  // Stopped after so many steps, and gone on with.
  Ran run_in_two(int steps) const {
    RunRequest first = request();
    first.control.stop = [left = steps]() mutable { return --left == 0; };
    const RunResult stopped = train::run(first);
    EXPECT_EQ(stopped.outcome.ending, Ending::kStopped);
    RunRequest second = request();
    second.resume = stopped.directory.path;
    return read(train::run(second));
  }
  static void expect_same(const Ran& a, const Ran& b, const std::string& what) {
    EXPECT_EQ(a.losses, b.losses) << what;
    ASSERT_EQ(a.state.size(), b.state.size()) << what;
    for (const auto& [name, tensor] : a.state)
      EXPECT_TRUE(same_tensor_bits(tensor, b.state.at(name)))
          << what << ": " << name;
  }

  // What such a run begins with.
  static graph::Program fresh(std::uint64_t seed = 0) {
    model::ZooOptions zoo;
    zoo.name = "resnet18";
    zoo.stem = "cifar";
    zoo.width = 0.125;
    zoo.image_size = 16;
    zoo.classes = 4;
    zoo.seed = seed;
    return model::build(zoo);
  }

  // Images of 16 x 16 in four classes, but for one label and one pixel.
  void write_arrays(int label, int pixel) {
    std::string pixels;
    std::string labels;
    for (int i = 0; i < 60; ++i) {
      for (int at = 0; at < 16 * 16 * 3; ++at)
        pixels += static_cast<char>((i * 7 + at * (1 + i % 4)) % 251);
      labels += static_cast<char>(i % 4);
    }
    labels[17] = static_cast<char>(label);
    pixels[17 * 16 * 16 * 3 + 100] = static_cast<char>(pixel);
    folder_.write("x.npy", data::npy_file("|u1", "(60, 16, 16, 3)", pixels));
    folder_.write("x_labels.npy", data::npy_file("|u1", "(60,)", labels));
    config_.data.source = "npy:" + folder_.text("x.npy");
  }

  tests::TempFolder folder_;
  config::Config config_;
};

TEST_F(Transfer, AfterAnEditKeptFeaturesGiveWhatComputingGives) {
  config_.data.val_fraction = 0; // every sample trains, the edited one too
  write_arrays(1, 5);
  const Ran before = run();
  for (const auto& [label, pixel] : {std::pair(3, 5), std::pair(1, 250)}) {
    write_arrays(label, pixel);
    config_.model.feature_cache = "auto";
    const Ran kept = run();
    config_.model.feature_cache = "off";
    const Ran computed = run();
    expect_same(kept, computed, "kept and computed");
    EXPECT_NE(kept.losses, before.losses);
  }
}

TEST_F(Transfer, ARunDoesNotGoOnWithDataThatWasEdited) {
  write_arrays(1, 5);
  RunRequest first = request();
  first.control.stop = [left = 5]() mutable { return --left == 0; };
  const RunResult stopped = train::run(first);
  write_arrays(2, 5);
  RunRequest second = request();
  second.resume = stopped.directory.path;
  EXPECT_THAT(
      tests::complaint([&] { train::run(second); }),
      HasSubstr("x_labels.npy has changed since it began"));
  // Put back as it was, it goes on, whatever the time of the file.
  write_arrays(1, 5);
  expect_same(read(train::run(second)), run(), "resumed and undisturbed");
}

TEST_F(Transfer, WithAndWithoutTheCacheEveryLossHasTheSameBits) {
  for (const char* name : {"resnet18", "cnn"}) {
    config_.model.name = name;
    config_.model.stem = name == std::string("cnn") ? "" : "cifar";
    config_.model.dropout = name == std::string("cnn") ? 0.4 : -1;
    config_.model.feature_cache = "off";
    const Ran computed = run();
    EXPECT_THAT(
        computed.result.overview.notes,
        Contains(HasSubstr("runs in every epoch")));
    config_.model.feature_cache = "auto";
    const Ran kept = run();
    EXPECT_THAT(
        kept.result.overview.notes, Contains(HasSubstr("computed once in")));
    const Ran found = run();
    EXPECT_THAT(
        found.result.overview.notes, Contains(HasSubstr("found in the cache")));
    ASSERT_EQ(computed.losses.size(), 12U);
    EXPECT_LT(computed.losses.back(), computed.losses.front());
    expect_same(computed, kept, "computed and kept");
    expect_same(kept, found, "kept and found");
    EXPECT_EQ(computed.result.outcome.val.loss, kept.result.outcome.val.loss);
  }
}

// In any company, at any place, beside padding: the same bits.
TEST_F(Transfer, FeaturesDoNotDependOnTheBatchTheyAreComputedIn) {
  for (const char* name : {"resnet18", "mobilenet_v2", "vit_tiny"}) {
    config_.model.name = name;
    config_.model.stem = "";
    config_.model.width = name[0] == 'v' ? 1 : 0.25;
    config_.data.source = "synthetic:images=10,size=32,classes=4";
    RunData data = open_data(config_, {}, 0);
    const RunModel model = choose_model(config_, data);
    std::string why;
    const auto split = split_frozen(model, why);
    ASSERT_TRUE(split) << why;
    const auto extractor = make_extractor(
        {split->prefix, split->shape, data, "cpu", InputFormat{}, 4});
    const auto values =
        static_cast<std::size_t>(graph::element_count(split->shape));
    std::map<std::int64_t, std::vector<float>> known;
    for (const int size : {4, 3, 10}) {
      config_.train.batch = size;
      const auto batches = train_batches(data, config_, InputFormat{});
      batches->start(static_cast<std::uint32_t>(size)); // an order of its own
      while (const data::HostBatch* batch = batches->next()) {
        std::vector<float> features(
            static_cast<std::size_t>(batch->size) * values);
        extractor->compute(*batch, features.data());
        for (int i = 0; i < batch->size; ++i) {
          const auto begin = features.begin() +
              static_cast<std::ptrdiff_t>(i * static_cast<int>(values));
          const std::vector<float> own(
              begin, begin + static_cast<std::ptrdiff_t>(values));
          const auto first = known.emplace(batch->indices[i], own).first;
          EXPECT_EQ(
              std::memcmp(
                  first->second.data(), own.data(), values * sizeof(float)),
              0)
              << name << ", sample " << batch->indices[i] << " in " << size;
        }
      }
    }
    EXPECT_EQ(known.size(), 10U);
    EXPECT_NE(known.at(0), known.at(1));
  }
}

TEST_F(Transfer, OnlyTheHeadTrainsAndCheckpointsHoldEverything) {
  const Ran ran = run();
  const EngineFacts& facts = ran.result.overview.engine;
  EXPECT_GT(facts.parameters, 10 * facts.trainable);
  for (const auto& [name, tensor] : fresh().weights) {
    ASSERT_EQ(ran.state.count("model." + name), 1U) << name;
    EXPECT_EQ(
        same_tensor_bits(tensor, ran.state.at("model." + name)),
        !name.starts_with("fc."))
        << name;
  }
  for (const auto& [name, tensor] : ran.state) {
    if (!name.starts_with("optimizer.")) continue;
    EXPECT_THAT(name, HasSubstr(".fc."));
  }
}

TEST_F(Transfer, ARunThatWasStoppedEndsAsIfItWasNot) {
  const Ran whole = run();
  for (const int steps : {2, 4, 7})
    expect_same(run_in_two(steps), whole, cat("after ", steps, " steps"));
  config_.model.feature_cache = "off";
  expect_same(run_in_two(6), whole, "without the cache");
}

TEST_F(Transfer, AResumedRunKeepsTheFrozenWeightsItBeganWith) {
  const auto save = [&](std::uint64_t seed) {
    model::ExportOptions options;
    options.format = model::ExportFormat::kSafetensors;
    std::filesystem::remove(folder_ / "start.safetensors");
    model::export_program(fresh(seed), folder_ / "start.safetensors", options);
  };
  save(5);
  config_.model.weights = folder_.text("start.safetensors");
  const Ran whole = run();
  RunRequest first = request();
  first.control.stop = [left = 5]() mutable { return --left == 0; };
  const RunResult stopped = train::run(first);
  save(6);
  RunRequest second = request();
  second.resume = stopped.directory.path;
  expect_same(read(train::run(second)), whole, "another file");
}

TEST_F(Transfer, AugmentedImagesAreKeptInViewsWhenAsked) {
  config_.data.augment = "cifar";
  EXPECT_THAT(
      run().result.overview.notes, Contains(HasSubstr("model.feature_views")));
  config_.model.feature_cache = "off";
  config_.train.epochs = 4;
  const Ran computed = run();
  config_.model.feature_cache = "auto";
  config_.model.feature_views = 2;
  const Ran views = run();
  EXPECT_THAT(views.result.overview.notes, Contains(HasSubstr("(2 views)")));
  // The first two epochs see their own random numbers, the others those again.
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(views.losses.at(i), computed.losses.at(i)) << i;
  EXPECT_NE(views.losses.at(8), computed.losses.at(8));
  expect_same(run_in_two(10), views, "in two");
}

TEST_F(Transfer, UnfrozenAfterSomeEpochsEverythingTrains) {
  config_.model.unfreeze_after = 2;
  const Ran whole = run();
  config_.model.unfreeze_after = 0;
  const Ran frozen = run();
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_EQ(whole.losses.at(i), frozen.losses.at(i)) << i;
  const std::string name = "conv1.weight";
  EXPECT_FALSE(same_tensor_bits(
      whole.state.at("model." + name), frozen.state.at("model." + name)));
  EXPECT_EQ(whole.state.count("optimizer.first." + name), 1U);
  config_.model.unfreeze_after = 2;
  expect_same(run_in_two(5), whole, "stopped while frozen");
  expect_same(run_in_two(10), whole, "stopped after");
  config_.model.freeze = {};
  EXPECT_THROW(run(), Error);
}

// Adam's first update of a parameter is as large as the rate; with the count of
// the others it would be three times that.
TEST_F(Transfer, WhatJoinsLaterCountsItsUpdatesFromThere) {
  config_.model.unfreeze_after = 2;
  config_.optimizer.weight_decay = 0;
  config_.schedule.name = "constant";
  config_.train.max_steps = 9; // four an epoch
  const graph::Weights after = run().state;
  const graph::TensorData& now = after.at("model.conv1.weight");
  const graph::Program start = fresh();
  const auto* a = reinterpret_cast<const float*>(now.bytes.get());
  const auto* b = reinterpret_cast<const float*>(
      start.weights.at("conv1.weight").bytes.get());
  float most = 0;
  for (std::size_t i = 0; i < now.byte_count / sizeof(float); ++i)
    most = std::max(most, std::abs(a[i] - b[i]));
  EXPECT_NEAR(most, config_.optimizer.lr, 0.01 * config_.optimizer.lr);
}

TEST_F(Transfer, RatesDifferByParameter) {
  config_.model.freeze = {};
  config_.optimizer.lr_scale = {"conv1.*=0"};
  const Ran ran = run();
  config_.model.feature_cache = "off";
  config_.optimizer.lr_scale = {};
  const Ran all = run();
  const std::string name = "conv1.weight";
  EXPECT_FALSE(same_tensor_bits(
      ran.state.at("model." + name), all.state.at("model." + name)));
  EXPECT_TRUE(same_tensor_bits(
      ran.state.at("model." + name), fresh().weights.at(name)));
  config_.optimizer.lr_scale = {"nothing.*=0.1"};
  EXPECT_THROW(run(), Error);
}

// The first layer trains: nothing comes before it to be computed once, and the
// frozen BatchNorms behind it still keep their statistics.
TEST_F(Transfer, FrozenBatchNormsStayAsTheyAreWhereverTheyStand) {
  config_.model.freeze = {"layer2.*"};
  const Ran ran = run();
  EXPECT_THAT(
      ran.result.overview.notes,
      Contains(HasSubstr("what trains comes before what is frozen")));
  for (const auto& [name, tensor] : ran.state) {
    if (!contains(name, "running_mean")) continue;
    const auto* values = reinterpret_cast<const float*>(tensor.bytes.get());
    const bool moved = std::any_of(
        values, values + tensor.byte_count / sizeof(float), [](float value) {
          return value != 0;
        });
    EXPECT_EQ(moved, !name.starts_with("model.layer2.")) << name;
  }
}

TEST_F(Transfer, ATorchscriptFileIsFrozenByPatternAndSaysSo) {
  model::ZooOptions zoo;
  zoo.name = "cnn";
  zoo.image_size = 16;
  zoo.channels = 3;
  zoo.classes = 4;
  const graph::Program program = model::build(zoo);
  model::ExportOptions options;
  options.format = model::ExportFormat::kTorchScript;
  options.training = true;
  model::export_program(program, folder_ / "net.pt", options);
  config_.model.name = folder_.text("net.pt");
  config_.model.stem = "";
  EXPECT_THROW(run(), Error); // which part is the backbone?
  config_.model.freeze = {"conv.*"};
  const Ran ran = run();
  EXPECT_THAT(
      ran.result.overview.notes, Contains(HasSubstr("cannot be looked into")));
  EXPECT_TRUE(same_tensor_bits(
      ran.state.at("model.conv.weight"), program.weights.at("conv.weight")));
  EXPECT_FALSE(same_tensor_bits(
      ran.state.at("model.fc.weight"), program.weights.at("fc.weight")));
  config_.model.freeze = {"nothing.*"};
  EXPECT_THROW(run(), Error);
}

} // namespace
} // namespace temper::train
