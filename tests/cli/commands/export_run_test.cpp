// `temper export RUN` needs nothing but the run's directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"
#include "temper/weights/safetensors.h"
#include "tests/cli/run_temper.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A schema.json of small grey pictures.
constexpr const char* kSchema = R"({
 "temper_schema": 1,
 "input": {"kind": "image", "shape": [1, 8, 8],
  "image": {"channels": "L", "crop": {"height": 8, "width": 8},
   "divide_by": 255, "mean": [0.5], "std": [0.25]}},
 "target": {"kind": "label", "classes": ["cat", "dog"]}
})";

class ExportRun : public testing::Test {
 protected:
  // Trains a few updates on a file of this folder.
  void train(const std::string& name, std::vector<std::string> more) const {
    std::vector<std::string> line{
        "train",
        "--epochs",
        "1",
        "--device",
        "cpu",
        "--set",
        cat("run.name=", name),
        "--set",
        "plan.seconds=0",
        "--set",
        "track.mlflow=off",
        "--set",
        "loader.workers=1",
        "--set",
        "threads=1"};
    line.insert(line.end(), more.begin(), more.end());
    const auto run = tests::run_temper(in(folder_.path()), line);
    ASSERT_EQ(run.code, 0) << run.out << run.err;
  }
  static std::vector<std::string> in(const fs::path& folder) {
    return {"env", cat("--chdir=", folder.string())};
  }
  ProcessResult temper(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "export");
    return tests::run_temper(in(folder_.path()), arguments);
  }
  void write_table() const {
    std::string rows = "a,b,kind\n";
    for (int i = 0; i < 40; ++i)
      rows += cat(i % 7, ",", i % 5, ",", i % 2 == 0 ? "even" : "odd", "\n");
    folder_.write("table.csv", rows);
  }

  tests::TempFolder folder_;
};

TEST_F(ExportRun, WorksWithoutTheDataFromAnyFolder) {
  write_table();
  train("t", {"--data", "csv:table.csv", "--model", "mlp"});
  const auto before = temper({"t", "--to", "before.safetensors"});
  ASSERT_EQ(before.code, 0) << before.err;
  fs::remove(folder_ / "table.csv");
  fs::create_directory(folder_ / "away");
  fs::rename(folder_ / "runs", folder_ / "away/runs");
  const auto elsewhere = tests::run_temper(
      in("/"),
      {"export",
       folder_.text("away/runs/t"),
       "--to",
       folder_.text("net.safetensors")});
  ASSERT_EQ(elsewhere.code, 0) << elsewhere.err;
  EXPECT_EQ(
      tests::read_bytes(folder_ / "net.safetensors"),
      tests::read_bytes(folder_ / "before.safetensors"));
  const auto program = tests::run_temper(
      in("/"),
      {"export", folder_.text("away/runs/t"), "--to", folder_.text("net.pt2")});
  EXPECT_EQ(program.code, 0) << program.err;
}

TEST_F(ExportRun, WorksWithoutTheFileThatTheModelCameFrom) {
  model::ZooOptions five;
  five.name = "mlp";
  five.image_size = 1;
  five.channels = 2;
  five.classes = 5;
  graph::write_pt2(model::build(five), folder_ / "five.pt2");
  write_table();
  train(
      "p",
      {"--data",
       "csv:table.csv",
       "--model",
       "five.pt2",
       "--set",
       "model.head=new"});
  fs::remove(folder_ / "five.pt2");
  const auto run = temper({"p", "--to", "net.pt2"});
  ASSERT_EQ(run.code, 0) << run.err;
  // Two classes, as it was trained, not five as in the file.
  const auto program = graph::read_pt2(folder_ / "net.pt2");
  const auto output =
      std::get<graph::TensorName>(program.graph.outputs.front().value);
  EXPECT_EQ(program.graph.meta(output.name).sizes.at(1).value, 2);
}

TEST_F(ExportRun, ARunIsFoundByLatestAndByAPartOfItsName) {
  train(
      "early-bird",
      {"--data", "synthetic:rows=40,features=3,classes=2", "--model", "mlp"});
  for (const char* name : {"latest", "early", "bird", "early-bird"}) {
    const auto run = temper({name, "--to", "net.pt2", "--force"});
    EXPECT_EQ(run.code, 0) << name << run.err;
  }
  const auto mistyped = temper({"early-brid", "--to", "net.pt2", "--force"});
  EXPECT_EQ(mistyped.code, 1);
  EXPECT_THAT(mistyped.err, HasSubstr("Did you mean early-bird?"));
}

TEST_F(ExportRun, AFolderThatIsNoRunDoesNotHideTheRunOfItsName) {
  write_table();
  train("photos", {"--data", "csv:table.csv", "--model", "mlp"});
  fs::create_directory(folder_ / "photos");
  const auto run = temper({"photos", "--to", "net.pt2"});
  EXPECT_EQ(run.code, 0) << run.err;
  fs::create_directory(folder_ / "cats");
  const auto none = temper({"cats", "--to", "cats.pt2"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no model or run \"cats\""));
}

TEST_F(ExportRun, ARunThatDoesNotCarryItsModelSaysWhatItNeeds) {
  write_table();
  train("old", {"--data", "csv:table.csv", "--model", "mlp"});
  fs::remove(folder_ / "runs/old/model.graph");
  EXPECT_EQ(temper({"old", "--to", "a.pt2"}).code, 0);
  fs::remove(folder_ / "table.csv");
  const auto lost = temper({"old", "--to", "b.pt2"});
  EXPECT_EQ(lost.code, 1);
  EXPECT_THAT(
      lost.err,
      AllOf(
          HasSubstr("does not carry its model"),
          HasSubstr("table.csv"),
          HasSubstr("where the run was trained")));
}

TEST_F(ExportRun, TheSchemaGoesAlongAndCanBeComputedInside) {
  train(
      "s",
      {"--data",
       "synthetic:images=16,classes=2,size=8,channels=1",
       "--model",
       "cnn"});
  folder_.write("runs/s/schema.json", kSchema);
  ASSERT_EQ(temper({"s", "--to", "net.pt2"}).code, 0);
  EXPECT_EQ(graph::read_pt2_extra(folder_ / "net.pt2", "schema.json"), kSchema);
  ASSERT_EQ(temper({"s", "--to", "net.safetensors"}).code, 0);
  weights::Metadata metadata;
  weights::read_safetensors(folder_ / "net.safetensors", &metadata);
  EXPECT_EQ(metadata.at("temper.schema"), kSchema);

  const auto inside =
      temper({"s", "--with-preprocessing", "--to", "inside.pt2"});
  ASSERT_EQ(inside.code, 0) << inside.err;
  EXPECT_THAT(
      inside.out, HasSubstr("pixels from 0 to 255 in, probabilities out"));
  const auto program = graph::read_pt2(folder_ / "inside.pt2");
  const auto input =
      program.graph.inputs_of(graph::InputKind::kUser).at(0)->value;
  EXPECT_EQ(program.graph.meta(input).dtype, graph::DType::kUint8);
  EXPECT_EQ(program.graph.meta(input).sizes.at(3).value, 1);
  EXPECT_THAT(
      *graph::read_pt2_extra(folder_ / "inside.pt2", "schema.json"),
      AllOf(HasSubstr("\"inside\""), HasSubstr("dog")));

  // From an export of a run, too.
  EXPECT_EQ(
      temper({"net.pt2", "--with-preprocessing", "--to", "again.pt2"}).code, 0);
  const auto weights =
      temper({"s", "--with-preprocessing", "--to", "no.safetensors"});
  EXPECT_EQ(weights.code, 2);
  EXPECT_THAT(weights.err, HasSubstr("no graph"));
  fs::remove(folder_ / "runs/s/schema.json");
  const auto none = temper({"s", "--with-preprocessing", "--to", "no.pt2"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("has no schema"));
}

} // namespace
} // namespace temper
