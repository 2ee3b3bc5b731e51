#include "temper/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/config/json_value.h"
#include "temper/config/print.h"

namespace temper::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Config from(const std::string& toml) {
  return load_text(toml, "net.toml", {}).config;
}

Config with(const std::string& assignment) {
  return load_text("", "", {parse_assignment(assignment)}).config;
}

std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "no error";
}

TEST(Config, NothingGivenIsTheDefaults) {
  EXPECT_EQ(from(""), Config());
  EXPECT_EQ(from("").train.batch, 64);
}

TEST(Config, WordsByNameAreATableInAFileAndPairsOnTheCommandLine) {
  const Words wanted{{"price", "number"}, {"zip code", "category"}};
  EXPECT_EQ(
      from("data.columns = {price = \"number\", \"zip code\" = \"category\"}")
          .data.columns,
      wanted);
  EXPECT_EQ(
      from("[data.columns]\nprice = \"number\"\n\"zip code\" = \"category\"")
          .data.columns,
      wanted);
  EXPECT_EQ(
      with("data.columns=price=number,zip code=category").data.columns, wanted);
  EXPECT_EQ(
      with("data.columns={price = \"number\", \"zip code\" = \"category\"}")
          .data.columns,
      wanted);
  EXPECT_THAT(with("data.columns=").data.columns, ::testing::IsEmpty());
}

TEST(Config, AWordThatIsNoneIsRefusedWithTheNearest) {
  EXPECT_THAT(
      message([] { from("data.columns = {zip = \"categori\"}"); }),
      HasSubstr("did you mean category?"));
  EXPECT_THAT(
      message([] { from("data.columns = [\"zip\"]"); }),
      HasSubstr("is not a table"));
}

TEST(Config, AFileSetsWhatItNames) {
  const Config config = from(R"(
seed = 7
threads = 2
[train]
batch = 128
class_weights = [1, 2.5]
[optimizer]
lr = 1
betas = [0.8, 0.95]
[loader]
workers = "auto"
memory = "256MiB"
[model]
freeze = ["features.*", "stem.*"]
widths = [256, 512]
)");
  EXPECT_EQ(config.seed, 7);
  EXPECT_EQ(config.threads, 2);
  EXPECT_EQ(config.train.batch, 128);
  EXPECT_THAT(config.train.class_weights, ElementsAre(1.0, 2.5));
  EXPECT_EQ(config.optimizer.lr, 1.0);
  EXPECT_THAT(config.optimizer.betas, ElementsAre(0.8, 0.95));
  EXPECT_FALSE(config.loader.workers);
  EXPECT_EQ(config.loader.memory.bytes, 256U << 20);
  EXPECT_THAT(config.model.freeze, ElementsAre("features.*", "stem.*"));
  EXPECT_THAT(config.model.widths, ElementsAre(256, 512));
}

TEST(Config, TheCommandLineGoesOverTheFile) {
  const Loaded loaded = load_text(
      "[train]\nbatch = 128\nepochs = 3\n",
      "net.toml",
      {parse_assignment("train.batch=32")});
  EXPECT_EQ(loaded.config.train.batch, 32);
  EXPECT_EQ(loaded.config.train.epochs, 3);
  EXPECT_EQ(loaded.origin.at("train.batch"), "--set");
  EXPECT_EQ(loaded.origin.at("train.epochs"), "net.toml line 3");
}

TEST(Config, AnAssignmentNeedsNoQuotesAndTakesThem) {
  EXPECT_EQ(with("model.name=resnet18").model.name, "resnet18");
  EXPECT_EQ(with("run.name=a=b").run.name, "a=b");
  EXPECT_EQ(with("run.name=12").run.name, "12");
  EXPECT_EQ(with("run.name=\"a b\"").run.name, "a b");
  EXPECT_EQ(with("optimizer.lr=3e-4").optimizer.lr, 3e-4);
  EXPECT_EQ(with("deterministic=true").deterministic, true);
  EXPECT_EQ(with("loader.workers=auto").loader.workers, std::nullopt);
  EXPECT_EQ(with("memory.budget=4GiB").memory.budget.bytes, 4ULL << 30);
  EXPECT_THAT(with("run.tags=a, b").run.tags, ElementsAre("a", "b"));
  EXPECT_THAT(with("run.tags=[\"a\"]").run.tags, ElementsAre("a"));
  EXPECT_THAT(with("model.widths=[8,8]").model.widths, ElementsAre(8, 8));
}

TEST(Config, WhatThePlanMayChooseIsAskedForByName) {
  EXPECT_EQ(with("layout=channels_last").layout, "channels_last");
  EXPECT_EQ(with("precision=bf16").precision, "bf16");
  EXPECT_EQ(with("plan.seconds=2.5").plan.seconds, 2.5);
  EXPECT_EQ(with("plan.cache=off").plan.cache, "off");
  EXPECT_EQ(from("").precision, "fp32");
  EXPECT_EQ(from("").layout, "auto");
  EXPECT_EQ(from("").plan.seconds, 10);
  for (const char* bad :
       {"layout=nhwc", "precision=fp64", "plan.seconds=-1", "plan.cache=maybe"})
    EXPECT_THAT(message([&] { with(bad); }), HasSubstr("is not")) << bad;
}

TEST(Config, AnUnknownKeyNamesFileLineAndTheNearest) {
  EXPECT_THAT(
      message([] { from("\n[train]\nbach = 3\n"); }),
      AllOf(
          HasSubstr("train.bach"),
          HasSubstr("net.toml line 3"),
          HasSubstr("Did you mean train.batch?")));
  EXPECT_THAT(
      message([] { from("batch = 3\n"); }),
      HasSubstr("Did you mean train.batch?"));
  EXPECT_THAT(
      message([] { with("optimiser.lr=1"); }),
      HasSubstr("Did you mean optimizer.lr?"));
  EXPECT_THAT(
      message([] { with("train.learning_rate=1"); }),
      HasSubstr("Did you mean optimizer.lr?"));
  EXPECT_THAT(
      message([] { with("batch_size=1"); }),
      HasSubstr("Did you mean train.batch?"));
}

// The help texts are no sentences: "optimizer.lr is learning rate." is none.
TEST(Config, AWrongValueIsExplainedBehindAColon) {
  EXPECT_THAT(
      message([] { with("optimizer.lr=fast"); }),
      HasSubstr("optimizer.lr: learning rate."));
  EXPECT_THAT(
      message([] { with("train.class_weights=heavy"); }),
      AllOf(
          HasSubstr("is not a list of numbers"),
          HasSubstr("one number for each class, such as [1, 2.5, 1]")));
}

TEST(Config, AValueAsJsonHasTheTypeThatItIsOf) {
  EXPECT_EQ(json_of_toml("64"), "64");
  EXPECT_EQ(json_of_toml("60.0"), "60.0");
  EXPECT_EQ(json_of_toml("true"), "true");
  EXPECT_EQ(json_of_toml("\"none\""), "\"none\"");
  EXPECT_EQ(json_of_toml("[0.9, 0.999]"), "[0.9,0.999]");
  EXPECT_EQ(json_of_toml("{price = \"number\"}"), "{\"price\":\"number\"}");
  EXPECT_EQ(json_of_toml("inf"), "\"Infinity\"");
  EXPECT_EQ(json_of_toml("no toml"), "\"no toml\"");
  for (const Field& field : fields())
    EXPECT_NE(
        json_of_toml(value_text(field, {})),
        nlohmann::json(value_text(field, {})).dump())
        << field.key;
}

TEST(Config, AKeyIsExplainedWithWhatItTakesAndItsDefault) {
  EXPECT_THAT(
      key_text("train.batch"),
      AllOf(
          HasSubstr("train.batch: "),
          HasSubstr("takes    a whole number from 1 to 1048576"),
          HasSubstr("default  64")));
  EXPECT_THAT(
      message([] { key_text("train.bach"); }),
      HasSubstr("Did you mean train.batch?"));
}

TEST(Config, HelpHasTheWordsThatAKeyTakes) {
  for (const Field& field : fields())
    for (const std::string& word : field.choices)
      EXPECT_THAT(help_text(), HasSubstr(word)) << field.key;
}

TEST(Config, ChangedKeysAreOnlyThoseThatAreNotAtTheirDefault) {
  EXPECT_EQ(changed_toml({}), "");
  EXPECT_EQ(changed_toml(with("train.batch=7")), "\n[train]\nbatch = 7\n");
}

TEST(Config, AWrongValueSaysWhatIsExpected) {
  EXPECT_THAT(
      message([] { from("[train]\nbatch = \"many\"\n"); }),
      AllOf(
          HasSubstr("train.batch = 'many'"),
          HasSubstr("a whole number from 1 to 1048576"),
          HasSubstr("net.toml line 2")));
  EXPECT_THAT(
      message([] { with("optimizer.name=addam"); }),
      HasSubstr("did you mean adam?"));
  for (const char* bad :
       {"train.batch=0",
        "train.batch=1.5",
        "train.batch=[1]",
        "train.batch=",
        "optimizer.lr=nan",
        "optimizer.lr=-1",
        "optimizer.betas=[0.9, 2]",
        "optimizer.betas=[true]",
        "deterministic=1",
        "deterministic=yes",
        "loader.workers=none",
        "loader.memory=much",
        "loader.memory=-1",
        "memory.budget=0",
        "memory.budget=1e30GiB",
        "data.augment=random"})
    EXPECT_THAT(message([&] { with(bad); }), HasSubstr("is not")) << bad;
}

TEST(Config, OneNameOrAListOfThem) {
  const Names both({"cifar", "jitter"});
  EXPECT_EQ(
      from("[data]\naugment = [\"cifar\", \"jitter\"]\n").data.augment, both);
  for (const char* written :
       {"data.augment=cifar,jitter",
        "data.augment=cifar, jitter",
        "data.augment=[\"cifar\", \"jitter\"]"})
    EXPECT_EQ(with(written).data.augment, both) << written;
  for (const char* written :
       {"data.augment=cifar",
        "data.augment=\"cifar\"",
        "data.augment=[\"cifar\"]"})
    EXPECT_EQ(with(written).data.augment, Names("cifar")) << written;
  EXPECT_THAT(
      message([] { with("data.augment=cifar,jiter"); }),
      HasSubstr("did you mean jitter?"));
  for (const char* bad :
       {"data.augment=[]",
        "data.augment=",
        "data.augment=[1]",
        "data.augment={a = \"cifar\"}"})
    EXPECT_THAT(message([&] { with(bad); }), HasSubstr("or a list of them"))
        << bad;
}

// Runs of before have auto in their config.toml.
TEST(Config, KernelsAreAutoOrOneOfTheirNamesAndWrittenAgain) {
  EXPECT_EQ(from("seed = 3\n").kernels, "auto");
  for (const char* name : {"auto", "stock", "fused"}) {
    const std::string line = cat("kernels = \"", name, "\"\n");
    const Config config = from(cat("seed = 3\n", line));
    EXPECT_EQ(config.seed, 3);
    EXPECT_EQ(config.kernels, name);
    EXPECT_EQ(with(cat("kernels=", name)).kernels, name);
    EXPECT_THAT(to_toml(config), HasSubstr(line));
  }
  EXPECT_THAT(
      message([] { from("kernels = \"fast\"\n"); }),
      HasSubstr("is not one of auto, stock, fused (net.toml line 1)"));
  EXPECT_THAT(
      message([] { with("kernels=fast"); }),
      HasSubstr("is not one of auto, stock, fused"));
}

TEST(Config, AValueWhereASectionStandsAndTheReverse) {
  EXPECT_THAT(message([] { from("train = 3\n"); }), HasSubstr("no key train"));
  EXPECT_THAT(
      message([] { from("[seed]\na = 1\n"); }), HasSubstr("not a section"));
  EXPECT_THAT(
      message([] { from("[train]\nbatch = 1979-05-27\n"); }),
      HasSubstr("neither"));
}

TEST(Config, WhatIsNotTomlIsNamedWithItsLine) {
  EXPECT_THAT(
      message([] { from("[train]\nbatch 3\n"); }),
      HasSubstr("cannot read net.toml line 2"));
  EXPECT_THAT(
      message([] { from("[train]\nbatch = 3\nbatch = 4\n"); }),
      HasSubstr("line 3"));
}

TEST(Config, AMissingFileAndAnEmptyAssignmentAreErrors) {
  EXPECT_THAT(
      message([] { load(std::filesystem::path("/none/x.toml"), {}); }),
      HasSubstr("cannot read /none/x.toml"));
  EXPECT_THAT(
      message([] { parse_assignment("train.batch"); }), HasSubstr("no ="));
  EXPECT_THAT(message([] { parse_assignment("=3"); }), HasSubstr("no ="));
}

} // namespace
} // namespace temper::config
