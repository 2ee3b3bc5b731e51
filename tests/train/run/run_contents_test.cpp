#include "temper/train/run/run_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/content/content.h"
#include "temper/data/feature/feature_store.h"
#include "temper/data/transform/presets.h"
#include "tests/complaint.h"
#include "tests/data/content/edited_sources.h"
#include "tests/temp_folder.h"
#include "tests/train/transfer/made_features.h"

namespace temper::train {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kLabel = 1;
constexpr int kPixel = 13;

// A run on data of every kind that lies in files.
class EditedRun : public ::testing::TestWithParam<data::EditedKind> {
 protected:
  EditedRun() {
    fs::create_directories(run_.path);
    data::write_files(folder_ / "data", GetParam().files(kLabel, kPixel));
  }

  RunData open(const std::string& folder = "data") const {
    RunData made;
    made.train = data::open_edited(GetParam().source, folder_ / folder);
    return made;
  }
  std::string refusal(const std::string& folder = "data") const {
    return tests::complaint([&] { check_contents(run_, open(folder)); });
  }

  tests::TempFolder folder_;
  journal::RunDirectory run_{folder_ / "runs" / "a"};
};

TEST_P(EditedRun, NamesTheFileThatChangedSinceItBegan) {
  keep_contents(run_, open());
  EXPECT_EQ(refusal(), "");
  data::write_files(folder_ / "data", GetParam().files(kLabel, 15));
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr(GetParam().pixels_in),
          HasSubstr("has changed since it began")));
}

TEST_P(EditedRun, GoesOnWithACopyOfItsData) {
  keep_contents(run_, open());
  fs::copy(folder_ / "data", folder_ / "copy", fs::copy_options::recursive);
  EXPECT_EQ(refusal("copy"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    EditedRun,
    ::testing::ValuesIn(data::edited_kinds()),
    [](const auto& kind) { return kind.param.name; });

class RunContents : public ::testing::Test {
 protected:
  RunContents() {
    fs::create_directories(run_.path);
    data::write_files(folder_ / "photos", data::edited_folder(1, 13));
  }
  RunData open() const {
    RunData made;
    made.train = data::open_edited("folder:%", folder_ / "photos");
    return made;
  }
  std::string refusal() const {
    return tests::complaint([&] { check_contents(run_, open()); });
  }

  tests::TempFolder folder_;
  journal::RunDirectory run_{folder_ / "runs" / "a"};
};

TEST_F(RunContents, FilesThatAreGoneOrNewAreNamed) {
  keep_contents(run_, open());
  fs::remove(folder_ / "photos/class0/2.ppm");
  folder_.write("photos/class0/9.ppm", data::small_image(9, 4, 4));
  EXPECT_THAT(
      refusal(),
      AllOf(
          HasSubstr("class0/2.ppm is gone"), HasSubstr("class0/9.ppm is new")));
}

TEST_F(RunContents, ManyFilesAreNamedByTheFirstFew) {
  keep_contents(run_, open());
  for (const int i : {1, 3, 5, 7})
    folder_.write(
        cat("photos/class1/", i, ".ppm"), data::small_image(99, 4, 4));
  EXPECT_THAT(
      refusal(),
      HasSubstr("class1/1.ppm, class1/3.ppm, class1/5.ppm and 1 more have "
                "changed since it began"));
}

TEST_F(RunContents, TheValidationPartIsLookedAtToo) {
  RunData data = open();
  data.val = data::open_edited("folder:%", folder_ / "photos");
  keep_contents(run_, data);
  folder_.write("photos/class1/3.ppm", data::small_image(99, 4, 4));
  data.val = data::open_edited("folder:%", folder_ / "photos");
  EXPECT_THAT(
      tests::complaint([&] { check_contents(run_, data); }),
      HasSubstr("class1/3.ppm has changed"));
}

TEST_F(RunContents, AnEditOfTheTestPartIsToldAndNoReasonToRefuse) {
  RunData data = open();
  data.test = data::open_edited("folder:%", folder_ / "photos");
  keep_contents(run_, data);
  std::string told;
  const log::Sink before =
      log::set_sink([&](log::Level, const std::string& line) { told += line; });
  check_contents(run_, data);
  EXPECT_EQ(told, "");
  folder_.write("photos/class1/3.ppm", data::small_image(99, 4, 4));
  data.test = data::open_edited("folder:%", folder_ / "photos");
  check_contents(run_, data);
  log::set_sink(before);
  EXPECT_THAT(
      told,
      AllOf(
          HasSubstr("class1/3.ppm has changed"),
          HasSubstr("tested on the data as it is now")));
}

TEST_F(RunContents, AListThatIsLostOrDamagedLeavesItToTheLoader) {
  EXPECT_EQ(refusal(), "");
  keep_contents(run_, open());
  tests::write_bytes(run_.data(), "{\"part\":");
  EXPECT_EQ(refusal(), "");
}

// Kept features of every kind of images, edited in every way: what the cache
// gives is what computing gives.
class EditedFeatures : public EditedRun {
 protected:
  std::vector<float> features(const fs::path& cache) {
    const auto source = open().train;
    FeatureCacheOptions options = cache_in(cache);
    auto augment = std::make_shared<data::Augment>(data::make_augment(
        {"none"}, false, 4, source->info(), data::Filter::nearest));
    const CachedFeatures cached =
        cached_features({{source, augment, 0, "test"}}, options, extractor_);
    EXPECT_EQ(cached.sources.size(), 1U) << cached.why_not;
    computed_ = cached.computed;
    std::vector<float> all;
    for (std::int64_t i = 0; i < source->size(); ++i) {
      data::Sample sample;
      cached.sources.at(0)->read(i, sample);
      all.insert(all.end(), sample.numbers.begin(), sample.numbers.end());
      all.push_back(static_cast<float>(sample.label));
    }
    return all;
  }

  MadeExtractor extractor_;
  std::int64_t computed_ = 0;
};

TEST_P(EditedFeatures, AreThoseOfTheDataAsItIsNow) {
  const auto kept = folder_ / "kept";
  const auto before = features(kept);
  EXPECT_EQ(computed_, data::kEditedSamples);
  EXPECT_EQ(features(kept), before);
  EXPECT_EQ(computed_, 0);
  int number = 0;
  for (const auto& [label, pixel] :
       {std::pair(0, kPixel), std::pair(kLabel, 15), std::pair(0, 15)}) {
    fs::remove_all(folder_ / "data");
    data::write_files(folder_ / "data", GetParam().files(label, pixel));
    const auto now = features(kept);
    EXPECT_NE(now, before);
    EXPECT_EQ(now, features(folder_ / cat("anew", number++)));
  }
  fs::remove_all(folder_ / "data");
  data::write_files(folder_ / "data", GetParam().files(kLabel, kPixel));
  EXPECT_EQ(features(kept), before);
  EXPECT_EQ(computed_, 0) << "the same data, written again";
}

std::vector<data::EditedKind> kinds_of_images() {
  std::vector<data::EditedKind> images;
  for (const data::EditedKind& kind : data::edited_kinds())
    if (kind.name != "csv" && kind.name != "text") images.push_back(kind);
  return images;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    EditedFeatures,
    ::testing::ValuesIn(kinds_of_images()),
    [](const auto& kind) { return kind.param.name; });

} // namespace
} // namespace temper::train
