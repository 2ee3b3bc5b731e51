// `temper data` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "temper/base/text.h"
#include "tests/cli/run_temper.h"
#include "tests/data/small_image.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"
#include "tests/wait_until.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class DataCommand : public testing::Test {
 protected:
  ProcessResult temper(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "data");
    return tests::run_temper(
        {"env", "TEMPER_CACHE_DIR=" + folder_.string()}, arguments);
  }
  // A PNM of one colour.
  void picture(const std::string& name, int colour) const {
    temp_.write(
        fs::path("photos") / name,
        "P6 5 4 255\n" + std::string(60, static_cast<char>(colour)));
  }
  std::string photos() const {
    return "folder:" + (folder_ / "photos").string();
  }

  tests::TempFolder temp_;
  const fs::path& folder_ = temp_.path();
};

TEST_F(DataCommand, ManualHoldsTheActionsTheFlagsAndTheSources) {
  const auto manual = temper({"--help"});
  EXPECT_EQ(manual.code, 0);
  for (const char* part :
       {"get",
        "check",
        "show",
        "pack",
        "--augment PRESET",
        "--out FILE",
        "cifar10",
        "csv:PATH",
        "cmd:PROGRAM",
        "--bad WHAT",
        "Exit codes:",
        "130"})
    EXPECT_THAT(manual.out, HasSubstr(part));
}

TEST_F(DataCommand, AnUnknownActionGetsTheNearestOne) {
  const auto wrong = temper({"chekc", "cifar10"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("Did you mean: temper data check?"));
  EXPECT_EQ(temper({}).code, 2);
  EXPECT_EQ(temper({"check"}).code, 2);
  EXPECT_EQ(temper({"pack", "synthetic:images=4"}).code, 2);
  EXPECT_EQ(temper({"show", "cifar10", "--part", "tset"}).code, 2);
}

TEST_F(DataCommand, GetListsWhatThereIsAndNamesTheNearest) {
  const auto list = temper({"get"});
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(
      list.out,
      AllOf(
          HasSubstr("cifar10"),
          HasSubstr("fashion-mnist"),
          HasSubstr(folder_.string())));
  const auto wrong = temper({"get", "fashon-mnist"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("Did you mean fashion-mnist?"));
}

TEST_F(DataCommand, CheckPassesGoodData) {
  for (int i = 0; i < 10; ++i)
    picture(cat(i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"), 20 * i);
  const auto run = temper({"check", photos()});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("5 x 4 RGB"),
          HasSubstr("dog"),
          HasSubstr("Every sample can be used"),
          Not(HasSubstr("\033"))));
}

TEST_F(DataCommand, CheckFindsABrokenFileAndSaysWhich) {
  for (int i = 0; i < 10; ++i)
    picture(cat(i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"), 20 * i);
  std::ofstream(folder_ / "photos/dog/broken.jpg") << "\xff\xd8\xff\xe0 no";
  const auto run = temper({"check", photos()});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.out, HasSubstr("broken.jpg"));
  const auto json =
      nlohmann::json::parse(temper({"check", photos(), "--json"}).out);
  EXPECT_EQ(json.at("problems"), true);
  EXPECT_EQ(json.at("bad_samples").size(), 1U);
}

TEST_F(DataCommand, ShowWritesAPictureAndPrintsTheClasses) {
  const std::string out = (folder_ / "sheet.png").string();
  const auto run = temper(
      {"show",
       "synthetic:images=60,size=32,classes=3",
       "--augment",
       "cifar",
       "--out",
       out});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(out));
  EXPECT_GT(fs::file_size(out), 1000U);
  const auto wrong =
      temper({"show", "synthetic:images=60", "--augment", "cifr"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("cifar"));
}

TEST_F(DataCommand, PackWritesAFileThatChecks) {
  for (int i = 0; i < 20; ++i)
    picture(cat(i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"), 10 * i);
  const std::string out = (folder_ / "photos.tpk").string();
  const auto run = temper({"pack", photos(), "--out", out});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("pack:" + out));
  const auto packed = temper({"check", "pack:" + out});
  EXPECT_EQ(packed.code, 0) << packed.out << packed.err;
}

TEST_F(DataCommand, ABrokenFileIsLeftOutWhereAskedTo) {
  for (int i = 0; i < 20; ++i)
    picture(cat(i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"), 10 * i);
  std::ofstream(folder_ / "photos/dog/broken.jpg") << "\xff\xd8\xff\xe0 no";
  const std::string out = (folder_ / "photos.tpk").string();
  const auto refused = temper({"pack", photos(), "--out", out});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(
      refused.err, AllOf(HasSubstr("broken.jpg"), HasSubstr("--bad skip")));
  const auto packed = temper({"pack", photos(), "--out", out, "--bad", "skip"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("1 bad sample left out"));
  EXPECT_EQ(temper({"check", out}).code, 0);
  const auto checked = temper({"check", photos(), "--bad", "skip"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.out, HasSubstr("broken.jpg"));
}

TEST_F(DataCommand, AnEmptyClassAndOtherFilesAreReported) {
  for (int i = 0; i < 10; ++i)
    picture(cat(i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"), 20 * i);
  temp_.write("photos/dog/old.gif", "GIF89a");
  fs::create_directory(folder_ / "photos/emptyclass");
  const auto run = temper({"check", (folder_ / "photos").string()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr("photos/emptyclass has no images."), HasSubstr("1 .gif")));
  EXPECT_THAT(run.out, HasSubstr("(empty: emptyclass)"));
}

TEST_F(DataCommand, KeysOfTheConfigAreTakenWithSet) {
  std::string rows = "rooms,price,area\n";
  for (int i = 0; i < 40; ++i)
    rows += cat(i % 5, ",", 1000 * i, ",", 10.5 * i, "\n");
  const std::string table = temp_.write("house.csv", rows).string();
  const auto run =
      temper({"check", table, "--set", "target=rooms:class", "--seed", "3"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("classes: 5"));
  const auto wrong = temper({"check", table, "--set", "train.batch=3"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("keys of [data]"));
  const auto misspelt = temper({"check", table, "--set", "targt=rooms"});
  EXPECT_NE(misspelt.code, 0);
  EXPECT_THAT(misspelt.err, HasSubstr("data.target"));
}

TEST_F(DataCommand, TheColumnsOfATableAreShown) {
  std::string rows = "rooms,area,city,price\n";
  for (int i = 0; i < 40; ++i)
    rows +=
        cat(1 + i % 5,
            ",",
            i % 10 == 0 ? "" : cat(20 + i, ".5"),
            ",",
            i % 2 == 0 ? "Berlin" : "Hamburg",
            ",",
            1000 * i,
            "\n");
  const std::string table = temp_.write("house.csv", rows).string();
  const auto run =
      temper({"check", table, "--set", "val_fraction=0", "--target", "price"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("rooms   number    1 to 5"),
          HasSubstr("city    category  2: Berlin, Hamburg"),
          HasSubstr("Target: price, a number")));
  const auto at = run.out.find("Target:");
  EXPECT_EQ(run.out.find("Target:", at + 1), std::string::npos) << "said twice";
  const auto json = nlohmann::json::parse(
      temper({"check", table, "--set", "val_fraction=0", "--json"}).out);
  EXPECT_EQ(json.at("columns").at(1).at("name"), "area");
  EXPECT_EQ(json.at("columns").at(1).at("missing"), 4);
}

TEST_F(DataCommand, AProgramsSamplesAreCheckedAndNotPacked) {
  std::string tar;
  for (int i = 0; i < 12; ++i) {
    tar += data::tar_member(cat(i, ".ppm"), data::small_image(i, 6, 6));
    tar += data::tar_member(cat(i, ".cls"), cat(i % 3));
  }
  const std::string program =
      "cmd:cat " + temp_.write("a.tar", tar + data::tar_end()).string();
  const auto run = temper({"check", program});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(
      run.out, AllOf(HasSubstr("12 samples"), HasSubstr("all 6 x 6 RGB")));
  EXPECT_THAT(
      temper({"check", program, "--set", "limit=5"}).out,
      HasSubstr("5 samples"));
  const auto refused =
      temper({"pack", program, "--out", (folder_ / "a.tpk").string()});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("tar:FILE"));
}

TEST_F(DataCommand, ShowOfATableSaysWhereToLookInstead) {
  const std::string table =
      temp_.write("a.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n").string();
  const auto run = temper({"show", table});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr("temper data check " + table),
          Not(HasSubstr("data.augment"))));
}

TEST_F(DataCommand, CtrlCLeavesNoPartOfAPack) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator would get the signal";
  const std::string out = (folder_ / "large.tpk").string();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(
        TEMPER_PROGRAM,
        "temper",
        "data",
        "pack",
        "synthetic:images=5000000,size=64",
        "--out",
        out.c_str(),
        static_cast<char*>(nullptr));
    ::_exit(127);
  }
  // Until it has begun to write.
  tests::wait_until([&] { return !fs::is_empty(folder_); });
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DataCommand, KeptFeaturesAreListedAndCleared) {
  EXPECT_THAT(temper({"cache"}).out, HasSubstr("0 files of features"));
  const auto train = tests::run_temper(
      {"env", "TEMPER_CACHE_DIR=" + folder_.string()},
      {"train",
       "--data",
       "synthetic:images=40,size=8,classes=4",
       "--model",
       "cnn",
       "--epochs",
       "2",
       "--set",
       "model.freeze=backbone",
       "--set",
       "run.dir=" + (folder_ / "runs").string()});
  ASSERT_EQ(train.code, 0) << train.err;
  EXPECT_THAT(train.out, HasSubstr("computed once in"));
  EXPECT_THAT(
      temper({"cache"}).out,
      AllOf(
          HasSubstr("2 files of features"),
          HasSubstr("cnn on synthetic:images=40,size=8,classes=4, val")));
  EXPECT_THAT(temper({"cache", "--clear"}).out, HasSubstr("removed 2 files"));
  EXPECT_THAT(temper({"cache"}).out, HasSubstr("0 files of features"));
}

} // namespace
} // namespace temper
