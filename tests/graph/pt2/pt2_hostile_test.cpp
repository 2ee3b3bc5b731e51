// Files that are damaged, strange or hostile: a sentence, never a crash, and no
// memory that the file does not justify.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "pt2_changes.h"
#include "temper/graph/pt2/pt2.h"

namespace temper::graph {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

Json ints(const std::vector<std::int64_t>& numbers) {
  Json list = Json::array();
  for (const auto each : numbers)
    list.push_back({{"as_int", each}});
  return list;
}

// Why the "cnn" fixture is refused once `change` was made to it.
template <class Change>
std::string refused(const Change& change, const char* fixture = "cnn") {
  ChangedPt2 file(fixture);
  change(file);
  const auto path = file.write();
  return refusal([&] { read_pt2(path); });
}

TEST(HostilePt2, UnchangedItIsRead) {
  EXPECT_EQ(refused([](ChangedPt2&) {}), "");
}

TEST(HostilePt2, AnUnknownKindOfArgumentIsRefusedWithItsNode) {
  const auto why = refused([](ChangedPt2& file) {
    file.node("conv2d")["inputs"][3]["arg"] = {{"as_matrix", {{"real", 1}}}};
  });
  EXPECT_THAT(
      why,
      AllOf(
          HasSubstr(
              "node conv2d (aten.conv2d.default in conv, pt2_nets.py:22)"),
          HasSubstr("as_matrix")));
}

TEST(HostilePt2, ALaterSchemaIsReadAsFarAsItIsUnderstood) {
  const auto later = [](ChangedPt2& file) {
    file.program["schema_version"] = {{"major", 9}, {"minor", 1}};
    file.program["something_new"] = {1, 2, 3};
    file.node("conv2d")["also_new"] = true;
  };
  EXPECT_EQ(refused(later), "");
  const auto why = refused([&](ChangedPt2& file) {
    later(file);
    file.node("conv2d")["inputs"][3]["arg"] = {{"as_future", 1}};
  });
  EXPECT_THAT(
      why, AllOf(HasSubstr("as_future"), HasSubstr("schema version 9.1")));
}

TEST(HostilePt2, AnUnknownTypeOfElementsIsToldWithTheNodeThatMakesThem) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.graph()["tensor_values"]["conv2d"]["dtype"] = 77;
      }),
      AllOf(HasSubstr("node conv2d"), HasSubstr("77")));
}

TEST(HostilePt2, MissingPartsAreNamed) {
  for (const char* part : {"graph_module", "graph", "signature", "nodes"})
    EXPECT_THAT(
        refused([&](ChangedPt2& file) {
          file.program.erase(part);
          if (file.program.contains("graph_module")) {
            file.program["graph_module"].erase(part);
            if (file.program["graph_module"].contains("graph"))
              file.graph().erase(part);
          }
        }),
        HasSubstr(part));
  EXPECT_THAT(
      refused([](ChangedPt2& file) { file.node("conv2d").erase("target"); }),
      HasSubstr("target"));
}

TEST(HostilePt2, EveryPartMayBeOfTheWrongKind) {
  const Json whole = ChangedPt2("cnn").program;
  const Json flat = whole.flatten();
  std::set<std::string> tried;
  for (const auto& [pointer, value] : flat.items()) {
    // One of each place: list positions aside.
    std::string place;
    for (const char c : pointer)
      if (c < '0' || c > '9') place += c;
    if (!tried.insert(place).second) continue;
    for (const Json& odd :
         {Json(), Json(-1), Json("\x1b"), Json::array({1}), Json::object()}) {
      ChangedPt2 file("cnn");
      file.program[Json::json_pointer(pointer)] = odd;
      const auto path = file.write();
      refusal([&] { read_pt2(path); }); // an Error or none; nothing else
    }
  }
  EXPECT_GT(tried.size(), 100U);
}

TEST(HostilePt2, WhatIsReadBeforeItIsMadeIsRefused) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.node("conv2d")["inputs"][0]["arg"]["as_tensor"]["name"] = "linear";
      }),
      AllOf(HasSubstr("aten.conv2d.default"), HasSubstr("linear")));
}

TEST(HostilePt2, NamesMadeTwiceOrUnknownAreRefused) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.node("relu_")["outputs"][0]["as_tensor"]["name"] = "conv2d";
      }),
      HasSubstr("there already"));
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.graph()["tensor_values"].erase("conv2d");
      }),
      HasSubstr("conv2d"));
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.signature()["input_specs"][0]["parameter"]["parameter_name"] =
            "nowhere";
      }),
      HasSubstr("nowhere"));
}

TEST(HostilePt2, NegativeAndExcessiveSizesAreRefused) {
  for (const auto& sizes :
       {ints({-1}), ints({kHuge, kHuge}), ints(std::vector<std::int64_t>(65))})
    EXPECT_NE(
        refused([&](ChangedPt2& file) {
          auto& meta = file.weight("conv.weight")["tensor_meta"];
          meta["sizes"] = sizes;
          meta["strides"] = sizes;
        }),
        "");
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.graph()["tensor_values"]["conv2d"]["sizes"][1] = {{"as_int", -3}};
      }),
      HasSubstr("-3"));
}

TEST(HostilePt2, WeightsMayNotLieOutsideTheirFile) {
  const auto with = [](const char* field, const Json& value) {
    return refused([&](ChangedPt2& file) {
      file.weight("conv.weight")["tensor_meta"][field] = value;
    });
  };
  EXPECT_THAT(with("storage_offset", {{"as_int", 1}}), HasSubstr("outside"));
  EXPECT_THAT(
      with("storage_offset", {{"as_int", kHuge}}), HasSubstr("conv.weight"));
  EXPECT_THAT(with("strides", ints({19, 9, 3, 1})), HasSubstr("outside"));
  EXPECT_THAT(with("strides", ints({kHuge, 9, 3, 1})), HasSubstr("strides"));
  EXPECT_THAT(with("strides", ints({-1, 9, 3, 1})), HasSubstr("-1"));
  EXPECT_THAT(with("strides", ints({9, 3, 1})), HasSubstr("strides"));
}

TEST(HostilePt2, AStrideOfZeroDoesNotMultiplyMemory) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        auto& meta = file.weight("conv.weight")["tensor_meta"];
        meta["sizes"] = ints({1 << 20, 1 << 20});
        meta["strides"] = ints({0, 0});
      }),
      HasSubstr("beyond reason"));
}

TEST(HostilePt2, PickledValuesAreRefused) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.weight("conv.weight")["use_pickle"] = true;
      }),
      AllOf(HasSubstr("conv.weight"), HasSubstr("pickled")));
}

TEST(HostilePt2, SampleInputsAreNeverLookedAt) {
  EXPECT_EQ(
      refused([](ChangedPt2& file) {
        file.put("data/sample_inputs/model.pt", "cposix\nsystem\n");
      }),
      "");
  EXPECT_EQ(
      refused(
          [](ChangedPt2& file) { file.remove("data/sample_inputs/model.pt"); }),
      "");
}

TEST(HostilePt2, MissingEntriesAreNamed) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) { file.remove("data/weights/weight_0"); }),
      HasSubstr("weight_0"));
  EXPECT_THAT(
      refused([](ChangedPt2& file) {
        file.remove("data/weights/model_weights_config.json");
      }),
      HasSubstr("no values"));
  EXPECT_THAT(
      refused([](ChangedPt2& file) { file.remove("models/model.json"); }),
      HasSubstr("models/model.json"));
}

TEST(HostilePt2, TruthValuesAreZeroOrOne) {
  EXPECT_THAT(
      refused(
          [](ChangedPt2& file) {
            const std::string name =
                file.weight("of_bool")["path_name"].get<std::string>();
            file.text("data/weights/" + name) = "\1\2\3";
          },
          "buffers"),
      HasSubstr("of_bool"));
}

TEST(HostilePt2, TextThatIsNoJsonOrTooDeepIsRefused) {
  const auto with = [](const std::string& text) {
    return refused(
        [&](ChangedPt2& file) { file.put("models/model.json", text); });
  };
  EXPECT_THAT(with(""), HasSubstr("no JSON"));
  EXPECT_THAT(with("{\"graph_module\": "), HasSubstr("no JSON"));
  EXPECT_THAT(with(std::string("\xff\xfe", 2)), HasSubstr("no JSON"));
  EXPECT_THAT(with(std::string(1'000'000, '[')), HasSubstr("deep"));
  EXPECT_THAT(with("[1, 2]"), HasSubstr("graph_module"));
  EXPECT_THAT(with("{\"a\": 1e999}"), HasSubstr("number"));
}

TEST(HostilePt2, TextPackedBeyondReasonIsNotUnpacked) {
  EXPECT_THAT(
      refusal([] { read_pt2(pt2_fixture("bomb")); }),
      HasSubstr("packed tighter"));
}

TEST(HostilePt2, ADeeplyNestedCallingConventionIsNotFollowed) {
  ChangedPt2 file("cnn");
  std::string spec;
  for (int i = 0; i < 100'000; ++i)
    spec += R"({"type": "builtins.tuple", "children_spec": [)";
  for (auto& call : file.program["graph_module"]["module_call_graph"])
    if (call["fqn"] == "") call["signature"]["in_spec"] = "[1, " + spec;
  Program program = read_pt2(file.write());
  const Pt2Folder folder;
  for (int i = 0; i < 100'000; ++i)
    spec += "]}";
  program.graph.calling.in_spec = "[1, " + spec + "]";
  write_pt2(program, folder / "net.pt2");
  const auto calling = read_pt2(folder / "net.pt2").graph.calling;
  EXPECT_LT(calling.in_spec.size(), 1000U);
}

TEST(HostilePt2, OtherArchivesAreToldFromExports) {
  const Pt2Folder folder;
  const auto with = [&](const std::vector<std::string>& names) {
    {
      ZipWriter zip(folder / "net.pt2");
      for (const auto& name : names)
        zip.add(name, "{}");
      zip.commit();
    }
    return refusal([&] { read_pt2(folder / "net.pt2"); });
  };
  const auto old =
      AllOf(HasSubstr("pickle"), HasSubstr("PyTorch 2.9 or newer"));
  EXPECT_THAT(
      with(
          {"version",
           "serialized_exported_program.json",
           "serialized_state_dict.pt"}),
      old);
  EXPECT_THAT(
      with({"net/models/model.json", "net/data/weights/model.pt"}), old);
  EXPECT_THAT(
      with({"net/data/aotinductor/model/a.so"}), HasSubstr("AOTInductor"));
  EXPECT_THAT(with({"net/data.pkl", "net/version"}), HasSubstr("state dict"));
  EXPECT_THAT(
      with({"a/models/model.json", "b/models/model.json"}),
      HasSubstr("2 models"));
  EXPECT_THAT(
      with({"net/models/a.json", "net/models/b.json"}), HasSubstr("2 models"));
  EXPECT_THAT(with({}), HasSubstr("net.pt2"));
}

TEST(HostilePt2, BigEndianNumbersAreRefused) {
  EXPECT_THAT(
      refused([](ChangedPt2& file) { file.put("byteorder", "big"); }),
      HasSubstr("big-endian"));
}

TEST(HostilePt2, WhatIsNoFileIsAnError) {
  const Pt2Folder folder;
  EXPECT_NE(refusal([&] { read_pt2(folder / "missing.pt2"); }), "");
  std::filesystem::create_directory(folder / "folder.pt2");
  EXPECT_NE(refusal([&] { read_pt2(folder / "folder.pt2"); }), "");
}

TEST(HostilePt2, ConstantsAmongTheArgumentsAreLeftOut) {
  ChangedPt2 file("cnn");
  file.signature()["input_specs"].push_back(
      {{"constant_input", {{"name", "flag"}, {"value", {{"as_bool", true}}}}}});
  const Program program = read_pt2(file.write());
  EXPECT_EQ(program.graph.inputs_of(InputKind::kUser).size(), 1U);
  EXPECT_EQ(program.graph.calling.in_spec, "");
}

TEST(HostilePt2, NumbersThatJsonCannotWriteAreTexts) {
  ChangedPt2 file("cnn");
  file.node("batch_norm")["inputs"][7]["arg"] = {{"as_float", "-Infinity"}};
  const Program program = read_pt2(file.write());
  for (const Node& node : program.graph.nodes)
    if (node.op == "aten.batch_norm.default") {
      EXPECT_EQ(
          *node.find("eps"),
          Argument(-std::numeric_limits<double>::infinity()));
    }
}

} // namespace
} // namespace temper::graph
