#include "temper/plan/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::plan {
namespace {

using machine::DeviceReport;
using machine::Machine;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Machine mac(const std::string& chip, const std::string& torch) {
  Machine machine;
  machine.platform.os = "macos";
  machine.platform.version = "15.3";
  machine.cpu.model = chip;
  machine.cpu.arch = machine.cpu.chip_arch = "arm64";
  machine.cpu.performance = 4;
  machine.cpu.efficiency = 4;
  machine.cpu.physical = machine.cpu.logical = 8;
  machine.cpu.usable = 8;
  machine.libtorch.version = torch;
  return machine;
}

Machine linux_box() {
  Machine machine;
  machine.platform.os = "linux";
  machine.cpu.performance = machine.cpu.physical = 2;
  machine.cpu.logical = 4;
  machine.cpu.usable = 4;
  machine.libtorch.version = "1.13.1";
  return machine;
}

const std::vector<DeviceReport> kMacDevices{
    {"mps", "Apple", true, ""},
    {"cpu", "", true, ""}};
const std::vector<DeviceReport> kCpuOnly{{"cpu", "", true, ""}};
const std::vector<DeviceReport> kCudaDevices{
    {"cuda:0", "A100", true, ""},
    {"cuda:1", "A100", true, ""},
    {"cpu", "", true, ""}};

std::vector<std::string> names(const Candidates& found) {
  std::vector<std::string> all;
  for (const Setting& each : found.settings)
    all.push_back(to_text(each));
  return all;
}

std::vector<std::string> ruled_out(const Candidates& found) {
  std::vector<std::string> all;
  for (const RuledOut& each : found.ruled_out)
    all.push_back(each.what + ": " + each.why);
  return all;
}

std::string refusal_of(
    const Machine& machine,
    const std::vector<DeviceReport>& devices,
    const Requests& asked) {
  try {
    find_candidates(machine, devices, asked);
  } catch (const Error& error) {
    return std::string(error.what()) + " " + error.hint();
  }
  return "no error";
}

TEST(Candidates, APlainBoxHasLayoutsTimesThreads) {
  const auto found = find_candidates(linux_box(), kCpuOnly, {});
  EXPECT_THAT(
      names(found),
      ElementsAre(
          "cpu, channels_last, 2 threads, fp32",
          "cpu, contiguous, 2 threads, fp32",
          "cpu, channels_last, 1 thread, fp32",
          "cpu, contiguous, 1 thread, fp32"));
  EXPECT_EQ(to_text(found.fallback), "cpu, contiguous, 2 threads, fp32");
}

TEST(Candidates, TempersKernelsAreTheStandardWhereTheyFit) {
  const ModelTraits fusable{.images = true, .fusable = true};
  const Candidates found = find_candidates(linux_box(), kCpuOnly, {}, fusable);
  EXPECT_THAT(
      names(found),
      ElementsAre(
          "cpu, channels_last, 2 threads, fp32, fused",
          "cpu, channels_last, 2 threads, fp32",
          "cpu, contiguous, 2 threads, fp32",
          "cpu, channels_last, 1 thread, fp32, fused",
          "cpu, channels_last, 1 thread, fp32",
          "cpu, contiguous, 1 thread, fp32"));
  EXPECT_EQ(to_text(found.standard()), names(found).front());
  EXPECT_EQ(to_text(found.fallback), "cpu, contiguous, 2 threads, fp32");
}

TEST(Candidates, LibTorchsKernelsAreTheOnlyOnesWhereTheyAreAskedFor) {
  const ModelTraits fusable{.images = true, .fusable = true};
  Requests asked;
  asked.kernels = Kernels::stock;
  const Candidates found =
      find_candidates(linux_box(), kCpuOnly, asked, fusable);
  EXPECT_THAT(names(found), Not(Contains(HasSubstr("fused"))));
  EXPECT_EQ(found.standard(), found.fallback);
  asked.kernels = Kernels::fused;
  EXPECT_THAT(
      names(find_candidates(linux_box(), kCpuOnly, asked, fusable)),
      ElementsAre(
          "cpu, channels_last, 2 threads, fp32, fused",
          "cpu, channels_last, 1 thread, fp32, fused"));
}

TEST(Candidates, AGpuHasNoneOfTempersKernels) {
  const ModelTraits fusable{.images = true, .fusable = true};
  Requests asked;
  asked.device = "mps";
  const Candidates found =
      find_candidates(mac("Apple M2", "2.5.0"), kMacDevices, asked, fusable);
  EXPECT_THAT(names(found), Not(Contains(HasSubstr("fused"))));
  EXPECT_EQ(found.standard(), found.fallback);
}

TEST(Candidates, AMacTriesTheGpuFirstAndOnlyContiguousOnIt) {
  const auto found =
      find_candidates(mac("Apple M1", "2.14.0"), kMacDevices, {});
  EXPECT_EQ(names(found).front(), "mps, contiguous, 4 threads, fp32");
  EXPECT_THAT(names(found), Not(Contains(HasSubstr("mps, channels_last"))));
  EXPECT_THAT(
      ruled_out(found),
      Contains(AllOf(
          HasSubstr("mps, channels_last"), HasSubstr("wrong gradients"))));
  EXPECT_THAT(names(found), Contains("cpu, channels_last, 8 threads, fp32"));
  EXPECT_THAT(names(found), Contains("cpu, contiguous, 1 thread, fp32"));
  EXPECT_TRUE(is_reference(found.fallback));
}

TEST(Candidates, ThreadsStayWithinWhatTheProcessMayUse) {
  Machine machine = mac("Apple M1", "2.14.0");
  machine.cpu.usable = 2.5;
  for (const Setting& each : find_candidates(machine, kMacDevices, {}).settings)
    EXPECT_LE(each.threads, 2);
}

TEST(Candidates, AutomaticPrecisionFollowsChipAndVersion) {
  const auto has = [](const Machine& machine, Precision what) {
    Requests asked;
    asked.precision = std::nullopt;
    const auto found = find_candidates(machine, kMacDevices, asked);
    for (const Setting& each : found.settings)
      if (each.device == "mps" && each.precision == what) return true;
    return false;
  };
  EXPECT_FALSE(has(mac("Apple M3 Max", "2.4.1"), Precision::fp16));
  EXPECT_TRUE(has(mac("Apple M1", "2.5.0"), Precision::fp16));
  EXPECT_FALSE(has(mac("Apple M3 Max", "2.5.1"), Precision::bf16));
  EXPECT_TRUE(has(mac("Apple M3 Max", "2.6.0"), Precision::bf16));
  EXPECT_FALSE(has(mac("Apple M1", "2.14.0"), Precision::bf16));
  EXPECT_FALSE(has(mac("Apple M2 Pro", "2.14.0"), Precision::bf16));
  Machine old = mac("Apple M3", "2.6.0");
  old.platform.version = "13.6";
  EXPECT_FALSE(has(old, Precision::bf16));
}

TEST(Candidates, Bf16OnACpuIsTriedWhereItHasInstructions) {
  Requests asked;
  asked.precision = std::nullopt;
  Machine machine = linux_box();
  const auto without = find_candidates(machine, kCpuOnly, asked);
  EXPECT_THAT(names(without), Not(Contains(HasSubstr("bf16"))));
  EXPECT_THAT(ruled_out(without), Contains(HasSubstr("no bf16 instructions")));
  EXPECT_THAT(ruled_out(without), Contains(HasSubstr("cpu, fp16")));
  machine.cpu.features = {"avx512_bf16"};
  const auto with = find_candidates(machine, kCpuOnly, asked);
  EXPECT_THAT(names(with), Contains("cpu, contiguous, 2 threads, bf16"));
  // Asked for, it is obeyed even where it is slow.
  asked.precision = Precision::bf16;
  for (const Setting& each :
       find_candidates(linux_box(), kCpuOnly, asked).settings)
    EXPECT_EQ(each.precision, Precision::bf16);
}

TEST(Candidates, WhatIsFixedIsObeyedAndTheRestIsPlanned) {
  Requests asked;
  asked.device = "cpu";
  asked.threads = 3;
  const auto found =
      find_candidates(mac("Apple M1", "2.14.0"), kMacDevices, asked);
  EXPECT_THAT(
      names(found),
      ElementsAre(
          "cpu, channels_last, 3 threads, fp32",
          "cpu, contiguous, 3 threads, fp32"));
  asked = {};
  asked.device = "mps";
  const auto gpu =
      find_candidates(mac("Apple M1", "2.14.0"), kMacDevices, asked);
  EXPECT_THAT(names(gpu), ElementsAre("mps, contiguous, 4 threads, fp32"));
  EXPECT_EQ(gpu.fallback.device, "mps");
}

TEST(Candidates, OfSeveralGpusAlikeTheFirstIsTried) {
  const auto found = find_candidates(linux_box(), kCudaDevices, {});
  EXPECT_THAT(names(found), Not(Contains(HasSubstr("cuda:1"))));
  EXPECT_THAT(names(found), Contains("cuda:0, channels_last, 2 threads, fp32"));
  Requests asked;
  asked.device = "cuda:1";
  EXPECT_EQ(
      find_candidates(linux_box(), kCudaDevices, asked).settings.front().device,
      "cuda:1");
}

TEST(Candidates, ADeviceThatDoesNotWorkIsRuledOut) {
  const auto found = find_candidates(
      mac("Apple M1", "2.14.0"),
      {{"mps", "", false, "no memory in this VM"}, {"cpu", "", true, ""}},
      {});
  EXPECT_THAT(names(found), Not(Contains(HasSubstr("mps"))));
  EXPECT_THAT(
      ruled_out(found), Contains("mps: does not work: no memory in this VM"));
}

TEST(Candidates, WhatCannotBeHadIsAnErrorWithTheAlternatives) {
  Requests asked;
  asked.device = "cpu";
  asked.precision = Precision::fp16;
  EXPECT_THAT(
      refusal_of(linux_box(), kCpuOnly, asked),
      AllOf(
          HasSubstr("fp16 is not for training on a CPU"),
          HasSubstr("precision fp32 or bf16 on cpu")));
  asked.device = "mps";
  asked.precision = Precision::bf16;
  EXPECT_THAT(
      refusal_of(mac("Apple M1 Pro", "2.14.0"), kMacDevices, asked),
      AllOf(HasSubstr("emulated on an M1"), HasSubstr("fp32 or fp16 on mps")));
  EXPECT_THAT(
      refusal_of(mac("Apple M4", "2.5.1"), kMacDevices, asked),
      AllOf(HasSubstr("needs LibTorch 2.6"), HasSubstr("this is 2.5.1")));
  asked = {};
  asked.device = "mps";
  asked.layout = Layout::channels_last;
  EXPECT_THAT(
      refusal_of(mac("Apple M4", "2.14.0"), kMacDevices, asked),
      AllOf(
          HasSubstr("wrong gradients on MPS"),
          HasSubstr("layout contiguous on mps"),
          HasSubstr("channels_last on cpu")));
  asked = {};
  asked.device = "cuda";
  EXPECT_THAT(
      refusal_of(linux_box(), kCpuOnly, asked), HasSubstr("cannot be used"));
}

TEST(Candidates, Fp16WithAnyDeviceTakesTheOneThatCan) {
  Requests asked;
  asked.precision = Precision::fp16;
  for (const Setting& each :
       find_candidates(mac("Apple M1", "2.14.0"), kMacDevices, asked).settings)
    EXPECT_EQ(each.device, "mps");
}

TEST(Candidates, TheConfigSaysWhatIsAsked) {
  config::Config config;
  config.device = "any";
  config.layout = "channels_last";
  config.precision = "auto";
  config.threads = 6;
  const Requests asked = requests_of(config);
  EXPECT_EQ(
      asked,
      (Requests{"any", Layout::channels_last, std::nullopt, std::nullopt, 6}));
  EXPECT_EQ(requests_of({}), Requests());
}

} // namespace
} // namespace temper::plan
