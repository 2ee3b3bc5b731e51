#include "temper/doctor/python_parse.h"

#include <gtest/gtest.h>

#include "marked_report.h"
#include "temper/base/text.h"
#include "temper/doctor/python_script.h"

namespace temper::doctor {
namespace {

TEST(PythonParse, WrongTypesAreNamed) {
  const auto problem = [](const char* json) {
    PythonReport report;
    return parse_packages(json, report);
  };
  EXPECT_TRUE(contains(problem("[]"), "not an object"));
  EXPECT_TRUE(contains(problem("3"), "not an object"));
  EXPECT_TRUE(contains(problem(R"({"version": 3})"), "version is not text"));
  EXPECT_TRUE(contains(problem(R"({"bits": -1})"), "bits is not a count"));
  EXPECT_TRUE(contains(problem(R"({"bits": 1e10})"), "bits is not a count"));
  EXPECT_TRUE(contains(problem(R"({"bits": 99999999999})"), "bits is not"));
  EXPECT_TRUE(contains(problem(R"({"translated": 1})"), "true or false"));
  EXPECT_TRUE(contains(problem(R"({"packages": {}})"), "not a list"));
  EXPECT_TRUE(contains(problem(R"({"packages": [1]})"), "not an object"));
  EXPECT_TRUE(contains(
      problem(R"({"packages": [{"architectures": [1]}]})"),
      "not a list of texts"));
  EXPECT_TRUE(contains(problem("{}"), "names no Python version"));
  EXPECT_EQ(problem(R"({"version": "3.9.1", "bits": null})"), "");

  PythonTorch torch;
  EXPECT_TRUE(contains(
      parse_torch(R"({"mps": {"built": "yes"}})", torch),
      "mps built is not true or false"));
  EXPECT_TRUE(contains(parse_torch(R"({"mps": 1})", torch), "not an object"));
}

TEST(PythonParse, DeepNestingAndHugeTextDoNoHarm) {
  PythonReport report;
  const std::string deep =
      std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(parse_packages(deep, report), "");
  EXPECT_NE(parse_packages(std::string(100'000, '['), report), "");
  const std::string huge = cat(
      R"({"version": "3.9.1", "prefix": ")", std::string(900'000, 'x'), "\"}");
  EXPECT_EQ(parse_packages(huge, report), "");
  EXPECT_EQ(report.prefix.size(), 1000u);
}

TEST(PythonParse, ArchitecturesGetOneName) {
  PythonReport report;
  EXPECT_EQ(
      parse_packages(
          R"({"version": "3.9.1", "architecture": "aarch64",
              "architectures": ["aarch64"]})",
          report),
      "");
  EXPECT_EQ(report.architecture, "arm64");
  EXPECT_EQ(report.architectures, (std::vector<std::string>{"arm64"}));
}

TEST(PythonParse, OnlyTheLastCompleteReportCounts) {
  EXPECT_EQ(last_marked_report(marked("1") + "x" + marked("2")), "2");
  const auto open = cat("\n", kReportBegin, "\n{");
  EXPECT_EQ(last_marked_report(marked("1") + open), "1");
  EXPECT_EQ(last_marked_report(open), std::nullopt);
  EXPECT_EQ(last_marked_report(cat("\n", kReportEnd, "\n")), std::nullopt);
}

TEST(PythonParse, PrintableTextIsOneLineOfValidCharacters) {
  EXPECT_EQ(printable("a\n\tb\x1b[0m"), "a  b [0m");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(printable("gr\xc3\xbc", 3), "gr");
  EXPECT_EQ(printable("\xff\xc3"), "  ");
  EXPECT_EQ(printable("\xc2\x9b"), "  ");
  EXPECT_EQ(printable("\xed\xa0\x80"), "   ");
}

} // namespace
} // namespace temper::doctor
