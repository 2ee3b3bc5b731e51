// Every config that ships trains: each is run by the program for a few steps,
// on small data in the format it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/cli/run_temper.h"
#include "tests/data/format_bytes.h"
#include "tests/data/small_image.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using tests::TempFolder;
using Words = std::vector<std::string>;

constexpr int kSteps = 3;

std::string set(const std::string& key, const std::string& value) {
  return cat("--set=", key, "=", value);
}

// Records of CIFAR-10's binary version; the picture says which class it is.
std::string cifar_records(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += data::byte(i % 10) +
        std::string(std::size_t{3} * 32 * 32, static_cast<char>(25 * (i % 10)));
  return bytes;
}

Words feed_cifar(const TempFolder& folder) {
  folder.write("cifar/data_batch_1.bin", cifar_records(40));
  folder.write("cifar/test_batch.bin", cifar_records(20));
  return {set("data.path", folder.text("cifar"))};
}

// IDX files as MNIST has them.
void write_idx(const TempFolder& folder, const std::string& part, int count) {
  using data::big_endian32;
  const auto head = [](int dimensions) {
    return data::byte(0) + data::byte(0) + data::byte(8) +
        data::byte(dimensions);
  };
  const auto samples = static_cast<std::uint32_t>(count);
  std::string images =
      head(3) + big_endian32(samples) + big_endian32(28) + big_endian32(28);
  std::string labels = head(1) + big_endian32(samples);
  for (int i = 0; i < count; ++i) {
    images += std::string(std::size_t{28} * 28, static_cast<char>(i));
    labels += data::byte(i % 10);
  }
  folder.write(cat("idx/", part, "-images-idx3-ubyte"), images);
  folder.write(cat("idx/", part, "-labels-idx1-ubyte"), labels);
}

Words feed_fashion_mnist(const TempFolder& folder) {
  write_idx(folder, "train", 40);
  write_idx(folder, "t10k", 20);
  return {set("data.path", folder.text("idx"))};
}

Words feed_rows(const TempFolder&) {
  return {"--data", "synthetic:rows=80,features=256,classes=10"};
}

Words feed_large_images(const TempFolder&) {
  return {"--data", "synthetic:images=40,size=256,classes=10"};
}

void export_model(Words arguments, const std::string& to) {
  arguments.insert(arguments.begin(), "export");
  arguments.insert(arguments.end(), {"--to", to});
  const auto made = tests::run_temper({}, arguments);
  ASSERT_EQ(made.code, 0) << made.err;
}

Words feed_own_model(const TempFolder& folder) {
  const std::string net = folder.text("net.pt2");
  export_model(
      {"cnn",
       "--train",
       "--classes",
       "10",
       "--image-size",
       "32",
       "--channels",
       "3"},
      net);
  Words words = feed_cifar(folder);
  words.insert(words.end(), {"--model", net});
  return words;
}

Words feed_photographs(const TempFolder& folder) {
  for (const char* name : {"cat", "dog", "owl"})
    for (int i = 0; i < 16; ++i)
      folder.write(
          cat("photos/", name, "/", i, ".ppm"),
          data::small_image(5 * i + name[0], 40 + i, 50));
  const std::string weights = folder.text("imagenet.safetensors");
  export_model({"resnet18"}, weights);
  return {
      "--data",
      cat("folder:", folder.text("photos")),
      set("data.image_size", "32"),
      set("model.weights", weights)};
}

Words feed_table(const TempFolder& folder) {
  std::string table = "width,height,colour,kind\n";
  for (int i = 0; i < 60; ++i)
    table +=
        cat(i % 7,
            ",",
            i % 5,
            i % 3 == 0 ? ",red," : ",blue,",
            i % 2 == 0 ? "even" : "odd",
            "\n");
  return {"--data", cat("csv:", folder.write("table.csv", table).string())};
}

Words feed_text(const TempFolder& folder) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += "To be, or not to be, that is the question.\n";
  return {
      "--data",
      cat("text:chars:", folder.write("play.txt", text).string()),
      set("data.sequence", "16")};
}

struct Feed {
  const char* config;
  Words (*arguments)(const TempFolder&);
};
constexpr Feed kFeeds[] = {
    {"cifar10-mobilenet", feed_cifar},
    {"cifar10-resnet18", feed_cifar},
    {"fashion-mnist-cnn", feed_fashion_mnist},
    {"folder-finetune", feed_photographs},
    {"m1-benchmark", feed_cifar},
    {"m1-conv", feed_large_images},
    {"m1-dense", feed_rows},
    {"own-model", feed_own_model},
    {"shakespeare-gpt", feed_text},
    {"tabular", feed_table},
};

TEST(Configs, EachThatShipsIsRunByATest) {
  std::set<std::string> shipped;
  for (const auto& entry :
       fs::directory_iterator(tests::source_dir() / "configs"))
    shipped.insert(entry.path().filename().string());
  std::set<std::string> fed;
  for (const Feed& feed : kFeeds)
    fed.insert(cat(feed.config, ".toml"));
  EXPECT_EQ(shipped, fed) << "say in kFeeds how a new config is fed";
}

// "train_loss" is documented as `train_...` and `loss`.
void expect_documented(const journal::Event& event) {
  static const std::string page =
      tests::read_bytes(tests::source_dir() / "docs/journal.md");
  EXPECT_THAT(page, HasSubstr(cat("### `", event.kind, "`")));
  for (const auto& [name, value] : event.fields) {
    std::string word = name;
    for (const std::string prefix : {"train_", "val_"})
      if (event.kind == "epoch" && word.starts_with(prefix))
        word = word.substr(prefix.size());
    EXPECT_THAT(page, HasSubstr(cat("`", word, "`"))) << event.kind;
  }
}

class ConfigRun : public testing::TestWithParam<Feed> {};

TEST_P(ConfigRun, TrainsAFewStepsWithFiniteLossesAndACheckpoint) {
  const TempFolder folder;
  Words words{
      "train",
      (tests::source_dir() / "configs" / cat(GetParam().config, ".toml"))
          .string(),
      "--batch",
      "8",
      set("train.max_steps", cat(kSteps)),
      set("train.log_every", "1"),
      set("schedule.warmup", "0.1"), // must be shorter than the run
      set("run.dir", folder.text("runs")),
      set("run.name", "x")};
  const Words own = GetParam().arguments(folder);
  words.insert(words.end(), own.begin(), own.end());
  const auto result = tests::run_temper(
      {"env", "TEMPER_CACHE_DIR=" + folder.text("cache")}, words);
  ASSERT_EQ(result.code, 0) << result.err;

  const fs::path run = folder / "runs/x";
  const std::string latest = tests::read_bytes(run / "checkpoints/latest");
  EXPECT_TRUE(fs::exists(
      run / "checkpoints" / std::string(trim(latest)) / "state.safetensors"))
      << "checkpoint '" << latest << "'";
  int steps = 0;
  bool validated = false;
  std::string status;
  for (const auto& event : journal::read_journal(run / "journal.jsonl")) {
    expect_documented(event);
    if (event.kind == "step") {
      ++steps;
      EXPECT_TRUE(std::isfinite(event.number("loss").value_or(NAN)));
      EXPECT_GT(event.number("grad_norm").value_or(NAN), 0);
    }
    if (event.kind == "epoch")
      validated = std::isfinite(event.number("val_loss").value_or(NAN));
    if (event.kind == "end") status = event.text("status").value_or("");
  }
  EXPECT_EQ(steps, kSteps);
  EXPECT_TRUE(validated);
  EXPECT_EQ(status, "done");
}

std::string config_name(const testing::TestParamInfo<Feed>& info) {
  std::string name = info.param.config;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Configs,
    ConfigRun,
    testing::ValuesIn(kFeeds),
    config_name);

} // namespace
} // namespace temper
