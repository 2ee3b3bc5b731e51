#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "temper/machine/machine.h"

namespace temper::machine {
namespace {

nlohmann::json parsed(const Machine& machine) {
  return nlohmann::json::parse(to_json(machine));
}

Machine whole_mac() {
  Machine machine;
  machine.platform = {"macos", "15.3", "24.3.0", "Mac14,6", "", "", false};
  machine.cpu.model = "Apple M2 Max";
  machine.cpu.usable = 12;
  machine.cpu.features = {"fp16", "bf16"};
  machine.memory.physical_bytes = std::uint64_t{32} << 30;
  machine.open_files = {256, std::numeric_limits<std::uint64_t>::max()};
  machine.gpus.push_back({"apple", "Apple M2 Max", 38, 32, 22});
  machine.disk = {"/runs", 1000, 10, "apfs"};
  machine.libtorch.version = "2.14.0";
  return machine;
}

TEST(MachineJson, ValuesComeThrough) {
  const auto json = parsed(whole_mac());
  EXPECT_EQ(json["platform"]["model"], "Mac14,6");
  EXPECT_EQ(json["cpu"]["features"][1], "bf16");
  EXPECT_EQ(json["cpu"]["usable"], 12);
  EXPECT_EQ(json["memory"]["physical_bytes"], std::uint64_t{32} << 30);
  EXPECT_EQ(json["open_files"]["soft"], 256);
  EXPECT_EQ(json["gpus"][0]["cores"], 38);
  EXPECT_EQ(json["gpus"][0]["recommended_bytes"], 22);
  EXPECT_EQ(json["disk"]["filesystem"], "apfs");
  EXPECT_EQ(json["libtorch"]["version"], "2.14.0");
}

TEST(MachineJson, NoLimitIsNull) {
  auto machine = whole_mac();
  EXPECT_TRUE(parsed(machine)["memory"]["limit_bytes"].is_null());
  EXPECT_TRUE(parsed(machine)["open_files"]["hard"].is_null());
  machine.memory.limit_bytes = 4096;
  machine.memory.limit_source = "RLIMIT_AS";
  machine.open_files.hard = 1024;
  EXPECT_EQ(parsed(machine)["memory"]["limit_bytes"], 4096);
  EXPECT_EQ(parsed(machine)["memory"]["limit_source"], "RLIMIT_AS");
  EXPECT_EQ(parsed(machine)["open_files"]["hard"], 1024);
}

TEST(MachineJson, EveryFieldIsThereEvenWhenNothingIsKnown) {
  const auto json = parsed({});
  EXPECT_EQ(json.size(), 7U);
  EXPECT_EQ(json["platform"].size(), 7U);
  EXPECT_EQ(json["cpu"].size(), 13U);
  EXPECT_EQ(json["memory"].size(), 5U);
  EXPECT_EQ(json["open_files"].size(), 2U);
  EXPECT_TRUE(json["gpus"].is_array());
  EXPECT_TRUE(json["cpu"]["features"].is_array());
  EXPECT_EQ(json["disk"].size(), 4U);
  EXPECT_EQ(json["libtorch"].size(), 14U);
}

TEST(MachineJson, FieldsKeepTheirOrderAndLinesAreIndented) {
  const std::string text = to_json(whole_mac());
  EXPECT_EQ(text.substr(0, 33), "{\n  \"platform\": {\n    \"os\": \"maco");
  EXPECT_EQ(text.back(), '\n');
}

TEST(MachineJson, NamesThatAreNotUtf8AreReplacedNotFatal) {
  auto machine = whole_mac();
  machine.cpu.model = "chip \xff\xfe";
  EXPECT_NO_THROW(parsed(machine));
}

} // namespace
} // namespace temper::machine
