// `temper export` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "temper/base/text.h"
#include "tests/cli/run_temper.h"
#include "tests/paths.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class ExportCommand : public testing::Test {
 protected:
  ExportCommand()
      : folder_(
            fs::temp_directory_path() /
            ("temper-export-" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
  }
  ~ExportCommand() override {
    fs::remove_all(folder_);
  }

  ProcessResult temper(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "export");
    return tests::run_temper({}, arguments);
  }
  std::string file(const std::string& name) const {
    return (folder_ / name).string();
  }
  static std::string cnn() {
    return (tests::fixtures() / "pt2" / "cnn.pt2").string();
  }

  fs::path folder_;
};

TEST_F(ExportCommand, ManualHoldsTheFlagsAndFormats) {
  const auto manual = temper({"--help"});
  EXPECT_EQ(manual.code, 0);
  for (const char* part :
       {"--weights FILE",
        "--to FILE",
        "--train",
        "--force",
        "torch.export.load",
        "torch.jit.load",
        "Exit codes:"})
    EXPECT_THAT(manual.out, HasSubstr(part));
}

TEST_F(ExportCommand, WritesTheWeightsAndSaysWhat) {
  const auto run =
      temper({"resnet18", "--width", "0.125", "--to", file("net.safetensors")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("resnet18 with fresh weights"),
          HasSubstr("safetensors, 122 tensors"),
          HasSubstr("KiB"),
          HasSubstr("load_state_dict")));
  EXPECT_TRUE(fs::exists(file("net.safetensors")));
}

TEST_F(ExportCommand, PutsWeightsIntoAModel) {
  ASSERT_EQ(
      temper({"resnet18", "--width", "0.125", "--to", file("w.safetensors")})
          .code,
      0);
  const auto run = temper(
      {"resnet18",
       "--width",
       "0.125",
       "--weights",
       file("w.safetensors"),
       "--to",
       file("net.pt2")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("resnet18 with 122 tensors of"),
          HasSubstr("pt2, eval mode"),
          HasSubstr("torch.export.load(")));
  const auto again =
      temper({file("net.pt2"), "--train", "--to", file("trains.pt2")});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("pt2, train mode"));
}

TEST_F(ExportCommand, WeightsThatDoNotFitGetATable) {
  ASSERT_EQ(
      temper({"resnet18",
              "--width",
              "0.125",
              "--classes",
              "7",
              "--to",
              file("w.safetensors")})
          .code,
      0);
  const auto run = temper(
      {"resnet18",
       "--width",
       "0.125",
       "--weights",
       file("w.safetensors"),
       "--to",
       file("net.pt2")});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(
      run.err,
      AllOf(
          HasSubstr("2 of another shape or type"),
          HasSubstr("fc.weight  [7, 64] float32"),
          HasSubstr("head = \"new\"")));
  EXPECT_FALSE(fs::exists(file("net.pt2")));
}

TEST_F(ExportCommand, WritesTorchScript) {
  const auto run = temper({cnn(), "--to", file("net.pt")});
  if (contains(run.err, "without LibTorch")) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(
          HasSubstr("torchscript, eval mode"),
          HasSubstr(cat("torch.jit.load(\"", file("net.pt"), "\")"))));
}

TEST_F(ExportCommand, AFileThatIsThereStays) {
  std::ofstream(file("net.pt2")) << "precious";
  const auto run = temper({cnn(), "--to", file("net.pt2")});
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("exists already"));
  EXPECT_EQ(fs::file_size(file("net.pt2")), 8U);
  EXPECT_EQ(temper({cnn(), "--to", file("net.pt2"), "--force"}).code, 0);
  EXPECT_GT(fs::file_size(file("net.pt2")), 8U);
}

TEST_F(ExportCommand, WrongCallsGetASentence) {
  EXPECT_EQ(temper({}).code, 2);
  EXPECT_EQ(temper({cnn()}).code, 2);
  EXPECT_EQ(
      temper({cnn(), "--to", file("a.pt2"), "--eval", "--train"}).code, 2);
  const auto model = temper({"resnet81", "--to", file("a.pt2")});
  EXPECT_EQ(model.code, 1);
  EXPECT_THAT(model.err, HasSubstr("Did you mean resnet"));
  const auto format = temper({cnn(), "--to", file("a.onnx")});
  EXPECT_EQ(format.code, 1);
  EXPECT_THAT(format.err, HasSubstr("write .onnx"));
  const auto folder = temper({cnn(), "--to", file("no/a.pt2")});
  EXPECT_THAT(folder.err, HasSubstr("there is no folder"));
  const auto weights =
      temper({cnn(), "--weights", file("none"), "--to", file("a.pt2")});
  EXPECT_THAT(weights.err, HasSubstr("there is no"));
  const auto script = temper(
      {(tests::fixtures() / "pth/script.pth").string(), "--to", file("a.pt2")});
  EXPECT_THAT(script.err, HasSubstr("is not a .pt2 file"));
}

} // namespace
} // namespace temper
