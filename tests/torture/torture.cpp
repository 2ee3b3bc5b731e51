// `make torture`: runs every gate in its full form and prints a table of them.
// A gate is a set of tests of one of our test programs; with TEMPER_TORTURE in
// their environment they do all there is to do instead of a little.
//
//   temper_torture [--short] [WORD...]   WORD: in the names of those wanted
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "temper/base/process/process.h"
#include "temper/base/text.h"

namespace {

namespace fs = std::filesystem;
using temper::cat;

struct Gate {
  const char* name;
  const char* program;
  const char* filter;
};

constexpr Gate kGates[] = {
    {"kill -9 of the trainer", "temper_torture_tests", "Kill.ATrainer*"},
    {"kill -9, .pt2 with tied weights",
     "temper_torture_tests",
     "Kill.ANetworkWithTied*"},
    {"kill after every system call of the writer",
     "temper_crash_tests",
     "Crash.Killed*"},
    {"unsynced writes dropped or reordered",
     "temper_crash_tests",
     "Crash.WhateverAPowerCut*"},
    {"disk full or broken at any write", "temper_crash_tests", "Crash.ADisk*"},
    {"every flipped bit of a checkpoint",
     "temper_train_tests",
     "Checkpoints.EveryFlippedBit*"},
    {"resume from anywhere", "temper_cli_tests", "Resume*"},
    {"out of memory at any allocation, cpu",
     "temper_engine_tests",
     "*Transaction*"},
    {"out of memory at any allocation, device",
     "temper_mps_tests",
     "*Transaction*"},
    {"memory.budget at 60, 40 and 25 % of the peak",
     "temper_forecast_tests",
     "*Budgets.AQuarter*"},
    {"signals in every phase", "temper_torture_tests", "*Signal*"},
    {"the same step dies again", "temper_torture_tests", "Deaths.*"},
    {"hangs", "temper_torture_tests", "*Hang*"},
    {"soak, images of every size", "temper_torture_tests", "Soak.*"},
};

struct Tally {
  bool ran = false;
  long cases = 0;
  long failures = 0;
  double seconds = 0;
};

// Of the report that GoogleTest writes.
Tally read_report(const fs::path& path) {
  Tally tally;
  std::ifstream file(path);
  const auto report = nlohmann::json::parse(file, nullptr, false);
  if (!report.is_object()) return tally;
  tally.ran = true;
  tally.failures = report.value("failures", 0L);
  for (const auto& suite : report["testsuites"])
    for (const auto& test : suite["testsuite"]) {
      if (test.value("result", "") != "COMPLETED") continue;
      const std::string cases = test.value("cases", "1");
      tally.cases += static_cast<long>(temper::parse_int(cases).value_or(1));
    }
  return tally;
}

Tally run(const Gate& gate, const fs::path& folder, bool all) {
  const fs::path program = folder / gate.program;
  const fs::path report =
      fs::temp_directory_path() / cat("temper-torture-", ::getpid(), ".json");
  if (!fs::exists(program)) return {};
  const std::vector<std::string> line{
      "env",
      // How often what comes at random is repeated.
      all ? "TEMPER_TORTURE=20" : "-uTEMPER_TORTURE",
      program.string(),
      cat("--gtest_filter=", gate.filter),
      cat("--gtest_output=json:", report.string())};
  temper::ProcessLimits limits;
  limits.time = std::chrono::hours(72);
  limits.output_bytes = std::size_t{256} << 20;
  const auto began = std::chrono::steady_clock::now();
  const auto result = temper::run_process(line, "", limits);
  Tally tally = read_report(report);
  tally.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began)
          .count();
  if (!result.succeeded()) {
    tally.failures = std::max(tally.failures, 1L);
    std::fprintf(stderr, "%s%s\n", result.out.c_str(), result.err.c_str());
  }
  std::error_code ignored;
  fs::remove(report, ignored);
  return tally;
}

bool is_wanted(const Gate& gate, const std::vector<std::string>& words) {
  return words.empty() ||
      std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return temper::contains(gate.name, word);
         });
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto flag = std::find(words.begin(), words.end(), "--short");
  const bool all = flag == words.end();
  if (!all) words.erase(flag);
  const fs::path folder = fs::path(argv[0]).parent_path();
  std::printf("%-52s %10s %9s %10s\n", "gate", "cases", "failures", "seconds");
  bool good = true;
  for (const Gate& gate : kGates) {
    if (!is_wanted(gate, words)) continue;
    const Tally tally = run(gate, folder, all);
    if (!tally.ran && tally.failures == 0) {
      std::printf("%-52s %10s\n", gate.name, "not built");
      good = false;
      continue;
    }
    good = good && tally.failures == 0 && tally.cases > 0;
    std::printf(
        "%-52s %10ld %9ld %10.1f\n",
        gate.name,
        tally.cases,
        tally.failures,
        tally.seconds);
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}
