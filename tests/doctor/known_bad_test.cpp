#include "temper/doctor/known_bad.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>

#include "temper/doctor/python_checks.h"

namespace temper::doctor {
namespace {

using machine::Machine;

// An environment on a machine, and whether the entry of that name applies.
// Each name appears at least once with yes and once with no.
struct Row {
  const char* name;
  bool yes;
  std::vector<std::pair<const char*, const char*>> packages;
  const char* macos = "15.3"; // empty: Linux
  const char* chip = "Apple M3";
  const char* python = "arm64";
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  out << row.name << (row.yes ? " applies to" : " is silent for");
  for (const auto& [name, version] : row.packages)
    out << " " << name << " " << version;
  return out << " on '" << row.macos << "' " << row.chip;
}

Machine machine_of(const Row& row) {
  Machine machine;
  machine.platform.version = row.macos;
  machine.platform.os = *row.macos == '\0' ? "linux" : "macos";
  machine.cpu.model = row.chip;
  machine.cpu.chip_arch = *row.macos == '\0' ? "x86_64" : "arm64";
  return machine;
}

PythonReport report_of(const Row& row) {
  PythonReport report;
  report.run.made = true;
  report.architecture = row.python;
  for (const auto& [name, version] : row.packages)
    report.packages.push_back({name, version, "", "", {}});
  return report;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"NumPy 2", true, {{"torch", "2.2.2"}, {"numpy", "2.0.0"}}, ""},
      {"NumPy 2", true, {{"torch", "1.13.1"}, {"numpy", "2.1.3"}}},
      {"NumPy 2", false, {{"torch", "2.3.0"}, {"numpy", "2.0.0"}}, ""},
      {"NumPy 2", false, {{"torch", "2.2.2"}, {"numpy", "1.26.4"}}, ""},
      {"NumPy 2", false, {{"torch", "2.2.2"}}, ""},

      {"MPS memory limit", true, {{"torch", "1.13.1"}}},
      {"MPS memory limit", false, {{"torch", "2.0.0"}}},
      {"MPS memory limit", false, {{"torch", "1.13.1"}}, ""},
      {"MPS LSTM", true, {{"torch", "1.13.1"}}},
      {"MPS LSTM", false, {{"torch", "2.0.0"}}},
      {"MPS assignment", true, {{"torch", "2.2.1"}}, "14.4"},
      {"MPS assignment", false, {{"torch", "2.2.1"}}, "14.3"},
      {"MPS assignment", false, {{"torch", "2.2.2"}}, "14.4"},
      {"MPS assignment", false, {{"torch", "2.1.2"}}, "14.4"},
      {"MPS optimizers", true, {{"torch", "2.3.1"}}},
      {"MPS optimizers", false, {{"torch", "2.4.0"}}},
      {"MPS autocast", true, {{"torch", "2.4.1"}}},
      {"MPS autocast", false, {{"torch", "2.5.0"}}},
      {"MPS bfloat16 autocast", true, {{"torch", "2.5.1"}}},
      {"MPS bfloat16 autocast", false, {{"torch", "2.6.0"}}},
      {"MPS bfloat16 autocast", false, {{"torch", "2.4.1"}}},
      {"MPS bfloat16", true, {{"torch", "2.6.0"}}, "13.6"},
      {"MPS bfloat16", false, {{"torch", "2.6.0"}}, "14.0"},
      {"MPS bfloat16", false, {{"torch", "2.6.0"}}, ""},
      {"MPS macOS version",
       true,
       {{"torch", "2.2.2"}},
       "15.3",
       "Apple M2",
       "x86_64"},
      {"MPS macOS version", false, {{"torch", "2.2.2"}}},
      {"MPS GradScaler", true, {{"torch", "2.7.1"}}},
      {"MPS GradScaler", false, {{"torch", "2.8.0"}}},
      {"MPS linear layer", true, {{"torch", "2.8.0"}}},
      {"MPS linear layer", false, {{"torch", "2.9.0"}}},
      {"MPS linear layer", false, {{"torch", "2.7.1"}}},
      {"MPS matrix product", true, {{"torch", "2.13.0"}}, "26.1", "Apple M1"},
      {"MPS matrix product",
       true,
       {{"torch", "2.7.0"}},
       "15.0",
       "Apple M2 Max"},
      {"MPS matrix product", false, {{"torch", "2.13.0"}}, "26.1", "Apple M4"},
      {"MPS matrix product", false, {{"torch", "2.14.0"}}, "26.1", "Apple M1"},
      {"MPS large batches", true, {{"torch", "2.12.0"}}},
      {"MPS large batches", false, {{"torch", "2.14.0"}}},
      {"MPS large batches", false, {{"torch", "2.11.0"}}},
      {"MPS graph cache", true, {{"torch", "2.12.1"}}},
      {"MPS graph cache", false, {{"torch", "2.13.0"}}},
      {"MPS convolution", true, {{"torch", "2.14.0"}}, "15.0"},
      {"MPS convolution", false, {{"torch", "2.14.0"}}, "14.7"},
      {"MPS convolution", false, {{"torch", "2.15.0"}}, "15.0"},
      {"MPS threads", true, {{"torch", "2.14.0"}}},
      {"MPS threads", true, {{"torch", "2.15.0.dev20260901"}}},
      {"MPS threads", false, {{"torch", "2.13.0"}}},
      {"MPS half precision", true, {{"torch", "2.11.0"}}, "26.1", "Apple M5"},
      {"MPS half precision", false, {{"torch", "2.11.0"}}, "26.1", "Apple M4"},
      {"MPS non_blocking", true, {{"torch", "2.14.0"}}},
      {"MPS non_blocking", false, {{"torch", "2.14.0"}}, ""},
      {"MPS non_blocking", false, {{"torch", "no number"}}},

      {"tensorflow-metal",
       true,
       {{"tensorflow-metal", "1.1.0"}, {"tensorflow", "2.18.0"}}},
      {"tensorflow-metal",
       true,
       {{"tensorflow-metal", "1.2.0"}, {"tensorflow", "2.21.0"}}},
      {"tensorflow-metal",
       false,
       {{"tensorflow-metal", "1.2.0"}, {"tensorflow", "2.18.0"}}},
      {"tensorflow-metal",
       false,
       {{"tensorflow-metal", "1.1.0"}, {"tensorflow", "2.17.0"}}},
      {"tensorflow-metal results", true, {{"tensorflow-metal", "1.0.0"}}},
      {"tensorflow-metal results", false, {{"tensorflow", "2.12.0"}}},
      {"tensorflow-metal memory", true, {{"tensorflow-metal", "1.0.0"}}},
      {"tensorflow-metal memory", false, {{"tensorflow", "2.12.0"}}},
      {"tensorflow-metal RNN", true, {{"tensorflow-metal", "1.0.0"}}},
      {"tensorflow-metal RNN", false, {{"tensorflow-metal", "1.0.0"}}, ""},
      {"Keras Adam",
       true,
       {{"tensorflow-metal", "1.0.0"}, {"keras", "2.11.0"}}},
      {"Keras Adam",
       false,
       {{"tensorflow-metal", "1.0.0"}, {"keras", "2.10.0"}}},
      {"Keras Adam",
       false,
       {{"tensorflow-metal", "1.1.0"}, {"keras", "3.0.0"}}},
      {"Keras Adam", false, {{"keras", "2.11.0"}}},
      {"Keras AdamW", true, {{"keras", "2.12.0"}}},
      {"Keras AdamW", false, {{"keras", "2.15.0"}}},
      {"Keras AdamW", false, {{"keras", "2.12.0"}}, ""},
  };
  return table;
}

TEST(KnownBad, EntriesApplyWhereTheyShouldAndNowhereElse) {
  for (const auto& row : rows()) {
    const auto checks = check_python(report_of(row), machine_of(row));
    const bool found =
        std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
          return check.name == row.name;
        });
    EXPECT_EQ(found, row.yes) << row;
  }
}

TEST(KnownBad, EveryEntryIsTestedBothWays) {
  std::set<std::string> fired;
  std::set<std::string> kept;
  for (const auto& row : rows())
    (row.yes ? fired : kept).insert(row.name);
  for (const auto& entry : known_bad_table()) {
    EXPECT_TRUE(fired.count(entry.name)) << entry.name;
    EXPECT_TRUE(kept.count(entry.name)) << entry.name;
  }
}

TEST(KnownBad, EveryEntrySaysWhatToDoAndWhereItIsKnownFrom) {
  for (const auto& entry : known_bad_table()) {
    EXPECT_NE(entry.verdict, Verdict::ok) << entry.name;
    EXPECT_NE(std::string(entry.sentence), "") << entry.name;
    EXPECT_NE(std::string(entry.advice), "") << entry.name;
    EXPECT_NE(std::string(entry.source).find('#'), std::string::npos)
        << entry.name;
    EXPECT_LT(entry.versions.from, entry.versions.below) << entry.name;
  }
}

TEST(KnownBad, NothingAboutMpsIsSaidOnLinux) {
  Row row{"", false, {}, ""};
  for (int minor = 0; minor < 20; ++minor) {
    const auto version = "2." + std::to_string(minor) + ".0";
    row.packages = {{"torch", version.c_str()}, {"keras", "2.12.0"}};
    for (const auto& check : check_python(report_of(row), machine_of(row)))
      EXPECT_EQ(check.name.find("MPS"), std::string::npos) << check.name;
  }
}

TEST(KnownBad, ATorchWithoutMetadataIsJudgedByTheVersionItImports) {
  Row row{"", true, {{"torch", ""}}};
  auto report = report_of(row);
  EXPECT_EQ(installed_version(report, "torch"), std::nullopt);
  report.torch.version = "2.8.0a0+git";
  EXPECT_EQ(installed_version(report, "torch"), (Version{2, 8, 0}));
}

} // namespace
} // namespace temper::doctor
