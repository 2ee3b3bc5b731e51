#include "temper/data/transform/presets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "temper/data/transform/place.h"
#include "tests/data/picture.h"

namespace temper::data {
namespace {

SourceInfo cifar() {
  SourceInfo info;
  info.name = "cifar10";
  info.channels = 3;
  info.width = info.height = 32;
  info.mean = {0.4914F, 0.4822F, 0.4465F};
  info.deviation = {0.2470F, 0.2435F, 0.2616F};
  return info;
}

SourceInfo photos() {
  SourceInfo info;
  info.name = "folder:photos";
  info.channels = 3;
  return info;
}

std::string steps(const Augment& augment) {
  std::string all;
  for (const auto& t : augment.transforms) {
    all += t->describe() + " ";
  }
  return all;
}

TEST(Presets, AreTheRecipesOfTheirNames) {
  EXPECT_EQ(
      steps(make_augment({"cifar"}, true, 0, cifar())),
      "random_crop(32x32, padding=4) horizontal_flip(0.5) ");
  EXPECT_EQ(steps(make_augment({"cifar"}, false, 0, cifar())), "");
  EXPECT_EQ(steps(make_augment({"none"}, true, 0, cifar())), "");
  EXPECT_EQ(
      steps(make_augment({"imagenet"}, true, 0, photos())),
      "random_resized_crop(224x224, area=0.08..1, aspect=0.75..1.33333, "
      "bilinear) horizontal_flip(0.5) ");
  EXPECT_EQ(
      steps(make_augment({"imagenet"}, false, 0, photos())),
      "resize(short_edge=256, bilinear) centre_crop(224x224) ");
  const auto strong = make_augment({"strong"}, true, 0, photos());
  EXPECT_NE(steps(strong).find("rand_augment(2"), std::string::npos);
  EXPECT_GT(strong.erase_probability, 0);
  EXPECT_EQ(make_augment({"strong"}, false, 0, photos()).erase_probability, 0);
}

TEST(Presets, GoTogetherInTheOrderOfTheirNames) {
  const std::string jitter =
      "colour_jitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1) ";
  const std::string cut = "random_crop(32x32, padding=4) horizontal_flip(0.5) ";
  EXPECT_EQ(
      steps(make_augment({"cifar", "jitter"}, true, 0, cifar())), cut + jitter);
  EXPECT_EQ(
      steps(make_augment({"jitter", "cifar"}, true, 0, cifar())), jitter + cut);
  EXPECT_EQ(steps(make_augment({"cifar", "jitter"}, false, 0, cifar())), "");
  EXPECT_EQ(make_augment({"cifar", "jitter"}, true, 0, cifar()).width, 32);
}

TEST(Presets, JitterAloneLeavesImagesTheirSize) {
  EXPECT_EQ(
      steps(make_augment({"jitter"}, true, 16, cifar())),
      "resize(short_edge=16, bilinear) centre_crop(16x16) "
      "colour_jitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1) ");
  EXPECT_EQ(make_augment({"jitter"}, true, 0, photos()).width, 0);
  EXPECT_FALSE(has_own_size({"jitter"}));
  EXPECT_FALSE(has_own_size({"none", "jitter"}));
  EXPECT_TRUE(has_own_size({"jitter", "imagenet"}));
}

TEST(Presets, OneOfThemCutsImages) {
  const auto hint = [](const std::vector<std::string>& names) -> std::string {
    try {
      make_augment(names, true, 0, cifar());
    } catch (const Error& error) {
      return std::string(error.what()) + " " + error.hint();
    }
    return "";
  };
  EXPECT_EQ(
      hint({"cifar", "jitter", "strong"}),
      "[data] data.augment has \"cifar\" and \"strong\", and each of them "
      "says how images are cut. Take one of them, and what only changes "
      "colours: jitter.");
  EXPECT_NE(hint({"jitter", "jitter"}).find("twice"), std::string::npos);
  EXPECT_NE(
      hint({"cifar", "jiter"}).find("Did you mean \"jitter\"?"),
      std::string::npos);
}

TEST(Presets, NormaliseAsTheSourceSaysOrAsImagenet) {
  EXPECT_EQ(make_augment({"cifar"}, true, 0, cifar()).mean[0], 0.4914F);
  EXPECT_EQ(make_augment({"imagenet"}, true, 0, photos()).mean[0], 0.485F);
}

TEST(Presets, LeaveGreyGrey) {
  auto grey = cifar();
  grey.channels = 1;
  grey.mean = grey.deviation = {0.3F};
  const auto augment = make_augment({"strong"}, true, 28, grey);
  EXPECT_EQ(augment.channels, 1);
  EXPECT_EQ(augment.mean.size(), 1U);
  EXPECT_EQ(augment.width, 28);
}

TEST(Presets, AMisspeltNameIsAnsweredWithTheNearest) {
  try {
    make_augment({"imagnet"}, true, 0, photos());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.hint()).find("imagenet"), std::string::npos);
  }
}

TEST(Presets, TheHashChangesWithWhatChangesPixels) {
  const auto hash = [](const char* name, bool train, int size) {
    return make_augment({name}, train, size, cifar()).hash();
  };
  EXPECT_EQ(hash("cifar", true, 0), hash("cifar", true, 32));
  EXPECT_NE(hash("cifar", true, 0), hash("cifar", false, 0));
  EXPECT_NE(hash("cifar", true, 0), hash("cifar", true, 40));
  EXPECT_NE(hash("cifar", true, 0), hash("strong", true, 0));
  auto other = make_augment({"cifar"}, true, 0, cifar());
  other.mean[1] += 1e-6F;
  EXPECT_NE(other.hash(), hash("cifar", true, 0));
}

TEST(Presets, OnlyWhatDrawsIsRandom) {
  EXPECT_FALSE(make_augment({"none"}, true, 128, cifar()).is_random());
  for (const char* name : {"cifar", "imagenet", "strong", "jitter"}) {
    EXPECT_TRUE(make_augment({name}, true, 64, cifar()).is_random()) << name;
    EXPECT_FALSE(make_augment({name}, false, 64, cifar()).is_random()) << name;
  }
  auto erasing = make_augment({"none"}, true, 0, cifar());
  erasing.erase_probability = 0.1;
  EXPECT_TRUE(erasing.is_random());
}

TEST(Presets, ImagesAreResizedAsAsked) {
  const auto text = [](Filter filter) {
    return steps(make_augment({"none"}, true, 128, cifar(), filter));
  };
  EXPECT_NE(text(Filter::nearest).find("nearest"), std::string::npos);
  EXPECT_NE(text(Filter::nearest), text(Filter::bilinear));
  EXPECT_NE(text(Filter::bicubic), text(Filter::bilinear));
}

TEST(Placer, PutsPixelsWhereTheLayoutWantsThem) {
  auto augment = make_augment({"none"}, true, 0, cifar());
  const Image image = picture(32, 32, 3, 0, 1);
  const RandomStream stream(1, 0, 0);
  std::vector<float> last(3072), first(3072);
  std::vector<std::uint8_t> bytes_last(3072), bytes_first(3072);
  Placer(augment, true).place(image, stream, last.data());
  Placer(augment, false).place(image, stream, first.data());
  Placer(augment, true).place(image, stream, bytes_last.data());
  Placer(augment, false).place(image, stream, bytes_first.data());
  for (std::size_t i = 0; i < 1024; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const auto x = image.pixels()[3 * i + c];
      const float expected =
          (static_cast<float>(x) / 255.0F - augment.mean[c]) /
          augment.deviation[c];
      ASSERT_EQ(last[3 * i + c], expected);
      ASSERT_EQ(first[c * 1024 + i], expected);
      ASSERT_EQ(bytes_last[3 * i + c], x);
      ASSERT_EQ(bytes_first[c * 1024 + i], x);
    }
  }
}

TEST(Placer, ErasesTheSameBoxInEveryLayout) {
  auto augment = make_augment({"none"}, true, 0, cifar());
  augment.erase_probability = 1;
  const Image image = picture(32, 32, 3, 3, 1); // 77, 78, 79: no zeros
  const RandomStream stream(1, 0, 5);
  std::vector<float> last(3072), first(3072);
  std::vector<std::uint8_t> bytes(3072);
  Placer(augment, true).place(image, stream, last.data());
  Placer(augment, false).place(image, stream, first.data());
  Placer(augment, true).place(image, stream, bytes.data());
  int erased = 0;
  for (std::size_t i = 0; i < 1024; ++i) {
    const bool gone = last[3 * i] == 0;
    erased += gone ? 1 : 0;
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(last[3 * i + c] == 0, gone);
      ASSERT_EQ(first[c * 1024 + i] == 0, gone);
    }
    ASSERT_EQ(bytes[3 * i], gone ? 125 : 77); // 0.4914 of 255
  }
  EXPECT_GT(erased, 10);
  EXPECT_LT(erased, 512);
}

TEST(Placer, ErasesAsOftenAsAsked) {
  auto augment = make_augment({"none"}, true, 0, cifar());
  augment.erase_probability = 0.25;
  const Placer placer(augment, true);
  const Image image = picture(32, 32, 3, 3, 1);
  std::vector<float> slot(3072);
  int erased = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    placer.place(image, RandomStream(1, 0, i), slot.data());
    if (std::count(slot.begin(), slot.end(), 0.0F) > 0) ++erased;
  }
  EXPECT_GT(erased, 190);
  EXPECT_LT(erased, 310);
}

} // namespace
} // namespace temper::data
