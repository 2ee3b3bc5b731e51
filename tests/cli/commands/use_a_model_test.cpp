// The Python of docs/use-a-model.md, run as it stands on what temper exports:
// the model with preprocessing inside and the model fed by hand say the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "temper/base/text.h"
#include "temper/data/codec/png_file.h"
#include "temper/data/sample/image.h"
#include "tests/cli/run_temper.h"
#include "tests/paths.h"
#include "tests/python.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

// The block of Python behind "<!-- runs: NAME -->".
std::string snippet(const std::string& name) {
  const std::string page =
      tests::read_bytes(tests::source_dir() / "docs/use-a-model.md");
  const std::string mark = cat("<!-- runs: ", name, " -->\n```python\n");
  const auto at = page.find(mark);
  EXPECT_NE(at, std::string::npos) << name;
  if (at == std::string::npos) return "";
  const auto begin = at + mark.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

// The first Python here whose torch and PIL do this.
std::optional<std::string> python_with(const std::string& needs) {
  return tests::python_that_runs(
      cat("import torch, PIL.Image, numpy\n", needs));
}

class UseAModel : public testing::Test {
 protected:
  std::vector<std::string> here() const {
    return {"env", cat("--chdir=", folder_.text())};
  }
  void temper(const std::vector<std::string>& arguments) const {
    const auto run = tests::run_temper(here(), arguments);
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }
  // Colour pictures of three classes that differ by what is random in them.
  void train_and_export() const {
    temper(
        {"train",
         "--data",
         "synthetic:images=48,classes=3,size=12,channels=3",
         "--model",
         "cnn",
         "--epochs",
         "2",
         "--device",
         "cpu",
         "--set",
         "run.name=a",
         "--set",
         "plan.seconds=0",
         "--set",
         "track.mlflow=off",
         "--set",
         "threads=1"});
    ASSERT_TRUE(std::filesystem::exists(folder_ / "runs/a/schema.json"));
    temper({"export", "a", "--to", "net.pt"});
    temper({"export", "a", "--with-preprocessing", "--to", "inside.pt"});
    temper({"export", "a", "--with-preprocessing", "--to", "inside.pt2"});
    data::Image picture(12, 12, 3);
    for (std::size_t i = 0; i < picture.bytes(); ++i)
      picture.pixels()[i] = static_cast<std::uint8_t>(i * 97 % 256);
    data::write_png(folder_ / "picture.png", picture);
  }
  // A snippet prints a class and its probability.
  std::pair<std::string, double> printed(
      const std::string& python,
      const std::string& name) const {
    folder_.write("snippet.py", snippet("pixels") + snippet(name));
    auto line = here();
    line.insert(line.end(), {python, "snippet.py"});
    ProcessLimits limits;
    limits.time = std::chrono::seconds(120);
    const auto run = run_process(line, "", limits);
    EXPECT_TRUE(run.succeeded()) << run.out << run.err;
    // The name of a class may have a space in it.
    const std::string line_out(trim(run.out));
    const auto at = line_out.rfind(' ');
    if (at == std::string::npos) return {};
    return {
        line_out.substr(0, at),
        parse_double(line_out.substr(at + 1)).value_or(0)};
  }

  tests::TempFolder folder_;
};

TEST_F(UseAModel, PreprocessingInsideIsToTensorNormaliseAndSoftmax) {
  const auto python = python_with("torch.jit.load");
  if (!python) GTEST_SKIP() << "there is no Python with torch and PIL";
  train_and_export();
  const auto by_hand = printed(*python, "torchscript");
  const auto inside = printed(*python, "torchscript-inside");
  EXPECT_FALSE(by_hand.first.empty());
  EXPECT_EQ(inside.first, by_hand.first);
  EXPECT_GT(by_hand.second, 1.0 / 3);
  EXPECT_NEAR(inside.second, by_hand.second, 1e-6);
}

TEST_F(UseAModel, AnExportedProgramSaysTheSameAsTorchscript) {
  const auto python = python_with(
      "assert tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 9)");
  if (!python) GTEST_SKIP() << "there is no Python with torch 2.9 and PIL";
  train_and_export();
  const auto script = printed(*python, "torchscript-inside");
  const auto program = printed(*python, "pt2-inside");
  EXPECT_EQ(program.first, script.first);
  EXPECT_NEAR(program.second, script.second, 1e-6);
}

} // namespace
} // namespace temper
