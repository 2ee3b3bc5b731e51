// Doors that open fast: what needs no LibTorch runs without it, and everything
// else says what is missing where the full program is.
#include "temper/cli/terminal/start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Line = std::vector<std::string>;

const Line kTinyRun{
    "train",
    "--data",
    "synthetic:rows=64,features=4,classes=2",
    "--device",
    "cpu",
    "--set",
    "plan.seconds=0",
    "--set",
    "model.widths=[4]",
    "--set",
    "track.mlflow=off",
    "--set",
    "run.name=x"};

Line operator+(Line first, const Line& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// A copy of the command where the full program is not.
class CommandAlone : public testing::Test {
 protected:
  void SetUp() override {
    if (!libtorch::linked()) GTEST_SKIP() << "a build without LibTorch";
    fs::create_directory(folder_ / "bin");
    fs::copy_file(TEMPER_PROGRAM, folder_ / "bin/temper");
  }
  ProcessResult alone(const Line& arguments) const {
    return run(folder_.text("bin/temper"), arguments);
  }
  ProcessResult run(const std::string& program, const Line& arguments) const {
    ProcessLimits limits;
    limits.time = std::chrono::seconds(120);
    const auto result =
        run_process(surroundings() + Line{program} + arguments, "", limits);
    EXPECT_EQ(result.end, ProcessResult::End::exited) << result.err;
    return result;
  }
  Line surroundings() const {
    return {
        "env",
        cat("--chdir=", folder_.text()),
        cat("TEMPER_CACHE_DIR=", folder_.text("cache"))};
  }
  void expect(int code, const Line& arguments) const {
    const auto run = alone(arguments);
    EXPECT_EQ(run.code, code) << join(arguments, " ") << "\n" << run.err;
    EXPECT_THAT(run.err, Not(HasSubstr("needs LibTorch")));
  }

  tests::TempFolder folder_;
};

TEST_F(CommandAlone, SaysWhatItIsAndHowItIsUsed) {
  for (const Line& line : std::vector<Line>{
           {"--version"},
           {"--help"},
           {"doctor", "--help"},
           {"train", "--help"},
           {"help", "train"},
           {"help", "config"},
           {"help", "config", "data.augment"}})
    expect(0, line);
}

TEST_F(CommandAlone, RefusesWrongFlagsAndConfigs) {
  folder_.write("wrong.toml", "[train]\nepochs = \"many\"\n");
  for (const Line& line : std::vector<Line>{
           {},
           {"docter"},
           {"doctor", "--device", "gpx"},
           {"train", "--vresion"},
           {"train", "wrong.toml"},
           {"train", "--dry-run", "wrong.toml"},
           {"train", "--no-supervise", "--set", "train.epochs=none"},
           {"plan", "measure", "wrong.toml"},
           {"export", "cnn"}})
    expect(2, line);
}

TEST_F(CommandAlone, ReadsRunsAndModelsAndPlans) {
  const auto trained =
      tests::run_temper(surroundings(), kTinyRun + Line{"--epochs", "1"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const Line& line : std::vector<Line>{
           {"runs", "list"},
           {"runs", "show", "x"},
           {"runs", "compare", "x", "x"},
           {"runs", "export", "x", "--to", "x.csv"},
           {"runs", "export", "x", "--to", "sqlite:///x.db"},
           {"runs", "export", "x", "--to", "tensorboard:logs"},
           {"runs", "gc"},
           {"train", "--resume", "x"}, // it is done
           {"plan", "show"},
           {"plan", "clear"},
           {"model", "show", "cnn"},
           {"export", "x", "--to", "x.pt2"},
           {"export", "x", "--to", "x.safetensors"},
           {"export", "x", "--with-preprocessing", "--to", "whole.pt2"},
           {"export", "cnn", "--to", "cnn.pt2"},
           {"model", "show", "x.pt2"}})
    expect(0, line);
}

TEST_F(CommandAlone, WorksOnData) {
  for (int i = 0; i < 8; ++i)
    folder_.write(
        cat("photos/", i % 2 == 0 ? "cat/" : "dog/", i, ".ppm"),
        "P6 5 4 255\n" + std::string(60, static_cast<char>(20 * i)));
  for (const Line& line : std::vector<Line>{
           {"data", "get"},
           {"data", "check", "photos"},
           {"data", "show", "photos"},
           {"data", "pack", "photos", "--out", "photos.tpk"},
           {"data", "check", "pack:photos.tpk"},
           {"data", "cache"}})
    expect(0, line);
}

TEST_F(CommandAlone, SaysInOneSentenceWhatIsMissing) {
  for (const Line& line : std::vector<Line>{
           {"doctor"},
           kTinyRun,
           kTinyRun + Line{"--no-supervise"},
           kTinyRun + Line{"--dry-run"},
           {"plan", "measure"},
           {"export", "cnn", "--to", "cnn.pt"}}) {
    const auto run = alone(line);
    EXPECT_EQ(run.code, 1) << join(line, " ");
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(
        run.err,
        AllOf(
            HasSubstr("this needs LibTorch, and the part of temper that has it "
                      "is missing: "),
            HasSubstr(folder_.text()),
            HasSubstr("install temper again")));
  }
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
}

TEST_F(CommandAlone, FindsTheFullProgramThroughALink) {
  const std::string link = folder_.text("linked");
  fs::create_symlink(TEMPER_PROGRAM, link);
  const auto exported = run(link, {"export", "cnn", "--to", "c.pt"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  EXPECT_TRUE(fs::exists(folder_ / "c.pt"));
}

TEST(Start, TheVersionIsThatOfTheLibTorchItWasCompiledFor) {
  const auto facts = libtorch::facts();
  EXPECT_THAT(
      tests::run_temper({}, {"--version"}).out,
      HasSubstr(
          cat("LibTorch ", facts.present ? facts.built_with : "none", "\n")));
}

// The supervisor waits beside the trainer for hours: it is to be small.
TEST(Start, TheSupervisorHasNoLibTorchAndItsTrainerHas) {
  if (!libtorch::linked()) GTEST_SKIP() << "a build without LibTorch";
  if (!fs::exists("/proc/self/maps")) GTEST_SKIP() << "no /proc";
  const tests::TempFolder folder;
  const std::string look = R"sh(
    "$@" & parent=$!
    until [ -s runs/x/journal.jsonl ]; do
      kill -0 $parent || exit 9
      sleep 0.05
    done
    for trainer in /proc/[0-9]*; do
      grep -qs "^PPid:[[:space:]]*$parent$" $trainer/status && break
    done
    echo "parent has $(grep -c libtorch /proc/$parent/maps)"
    echo "trainer has $(grep -c libtorch $trainer/maps)"
    tr '\0' '\n' <$trainer/environ | grep -e SPINCOUNT -e FALLBACK
    echo "trainer is $(cat $trainer/comm)"
    kill $parent
    wait $parent)sh";
  const auto run = tests::run_temper(
      {"env",
       cat("--chdir=", folder.text()),
       "--unset=GOMP_SPINCOUNT",
       "TEMPER_SUPERVISE=1",
       "sh",
       "-c",
       look,
       "sh"},
      kTinyRun + Line{"--epochs", "1000000", "--mps-fallback"});
  EXPECT_EQ(run.code, 75) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("parent has 0\n"),
          HasSubstr("trainer has "),
          Not(HasSubstr("trainer has 0\n")),
          HasSubstr("trainer is temper\n"),
          HasSubstr("GOMP_SPINCOUNT=1000\n"),
          HasSubstr("PYTORCH_ENABLE_MPS_FALLBACK=1\n")));
}

// The parent and the trainer would each read a part of it.
TEST(Start, AConfigThatCanBeReadOnceIsReadByTheOneWhoTrains) {
  const tests::TempFolder folder;
  folder.write(
      "net.toml",
      "[data]\nsource = \"synthetic:rows=64,features=4,classes=2\"\n"
      "[train]\nepochs = 1\n[model]\nwidths = [4]\n[plan]\nseconds = 0\n"
      "[run]\nname = \"piped\"\n");
  if (!libtorch::linked()) GTEST_SKIP() << "a build without LibTorch";
  const auto run = tests::run_temper(
      {"env",
       cat("--chdir=", folder.text()),
       "TEMPER_SUPERVISE=1",
       "sh",
       "-c",
       "cat net.toml | \"$@\" /dev/stdin",
       "sh"},
      {"train"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.err, HasSubstr("/dev/stdin can be read only once: training without"));
  EXPECT_TRUE(fs::exists(folder / "runs/piped/checkpoints/latest"));
}

} // namespace
} // namespace temper
