#include "temper/doctor/python_checks.h"

#include <gtest/gtest.h>

#include "temper/base/text.h"
#include "temper/doctor/known_bad.h"

namespace temper::doctor {
namespace {

using End = ProcessResult::End;
using machine::Machine;

Machine mac(const std::string& macos = "15.3") {
  Machine machine;
  machine.platform.os = "macos";
  machine.platform.version = macos;
  machine.cpu.model = "Apple M3 Pro";
  machine.cpu.arch = machine.cpu.chip_arch = "arm64";
  machine.gpus.push_back({.vendor = "apple", .model = "Apple M3 Pro"});
  return machine;
}

Machine linux_box() {
  Machine machine;
  machine.platform.os = "linux";
  machine.platform.version = "Debian GNU/Linux 12 (bookworm)";
  machine.cpu.arch = machine.cpu.chip_arch = "x86_64";
  return machine;
}

PythonReport python(const std::string& architecture = "arm64") {
  PythonReport report;
  report.asked = report.executable = "python3";
  report.run.made = true;
  report.run.end = End::exited;
  report.interpreter = "/opt/python/bin/python3";
  report.version = "3.11.9";
  report.implementation = "CPython";
  report.architecture = architecture;
  report.architectures = {architecture};
  report.bits = 64;
  return report;
}

void install(
    PythonReport& report,
    const std::string& name,
    const std::string& version,
    std::vector<std::string> architectures = {}) {
  report.packages.push_back({name, version, "", "", std::move(architectures)});
}

// With a torch that imports and whose MPS works.
PythonReport with_torch(const std::string& version) {
  auto report = python();
  install(report, "torch", version, {"arm64"});
  report.torch.run = report.run;
  report.torch.step = "done";
  report.torch.imported = true;
  report.torch.version = version;
  report.torch.threads = 8;
  report.torch.mps = {true, true, true, false, ""};
  return report;
}

const Check* find_check(
    const std::vector<Check>& checks,
    const std::string& name) {
  for (const auto& check : checks)
    if (check.name == name) return &check;
  return nullptr;
}

Check found(
    const PythonReport& report,
    const Machine& machine,
    const std::string& name) {
  const auto checks = check_python(report, machine);
  const auto* check = find_check(checks, name);
  if (check != nullptr) return *check;
  Check none;
  none.found = "(silent)";
  return none;
}

bool silent(
    const PythonReport& report,
    const Machine& machine,
    const std::string& name) {
  return found(report, machine, name).found == "(silent)";
}

TEST(PythonChecks, AGoodMacHasOnlyNotes) {
  auto report = with_torch("2.13.0");
  install(report, "torchvision", "0.28.0", {"arm64"});
  install(report, "numpy", "2.1.0", {"arm64", "x86_64"});
  for (const auto& check : check_python(report, mac())) {
    EXPECT_EQ(check.group, "python");
    // 2.13 has one fault that a particular input shows.
    if (check.name == "MPS large batches") continue;
    EXPECT_LE(check.verdict, Verdict::note) << check.name << check.found;
  }
}

TEST(PythonChecks, EveryFindingThatIsNotOkSaysWhatToDo) {
  auto report = with_torch("1.13.1");
  install(report, "numpy", "2.0.0", {"x86_64"});
  install(report, "tensorflow", "2.21.0");
  install(report, "tensorflow-macos", "2.12.0");
  install(report, "tensorflow-metal", "1.2.0");
  install(report, "keras", "2.12.0");
  const auto checks = check_python(report, mac("12.0"));
  EXPECT_GT(checks.size(), 12u);
  for (const auto& check : checks)
    EXPECT_EQ(check.advice.empty(), check.verdict == Verdict::ok) << check.name;
}

TEST(PythonChecks, AMissingPythonIsBadOnlyIfItWasAskedFor) {
  PythonReport report;
  report.executable = "python3";
  report.run.made = true;
  report.run.error = "No such file or directory";
  auto check = found(report, mac(), "Python");
  EXPECT_EQ(check.verdict, Verdict::note);
  EXPECT_EQ(check.found, "python3: No such file or directory");
  report.asked = "python3";
  EXPECT_EQ(found(report, mac(), "Python").verdict, Verdict::bad);
  EXPECT_EQ(found(python(), mac(), "Python").verdict, Verdict::ok);
}

TEST(PythonChecks, ASlowPythonIsAtLeastAWarning) {
  PythonReport report;
  report.executable = "python3";
  report.run = {true, End::timed_out, 0, "no end within 20.0 s"};
  const auto check = found(report, mac(), "Python");
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(contains(check.advice, ".pth"));
}

TEST(PythonChecks, ApplesPlaceholderIsRecognised) {
  PythonReport report;
  report.asked = report.executable = "/usr/bin/python3";
  report.run = {
      true, End::exited, 1, "exit code 1: xcode-select: no developer tools"};
  EXPECT_TRUE(contains(found(report, mac(), "Python").advice, "placeholder"));
}

TEST(PythonChecks, AnX86PythonOnAnAppleChipIsBad) {
  const auto check = found(python("x86_64"), mac(), "Rosetta");
  EXPECT_EQ(check.verdict, Verdict::bad);
  EXPECT_EQ(check.source, "pytorch#114602");
  EXPECT_TRUE(silent(python("arm64"), mac(), "Rosetta"));
  EXPECT_TRUE(silent(python("x86_64"), linux_box(), "Rosetta"));
}

TEST(PythonChecks, APackageOfAnotherArchitectureCannotLoad) {
  auto report = python();
  install(report, "numpy", "1.26.4", {"x86_64"});
  const auto check = found(report, mac(), "numpy architecture");
  EXPECT_EQ(check.verdict, Verdict::bad);
  EXPECT_EQ(check.found, "numpy is built for x86_64, this Python is arm64");
  report.packages.front().architectures = {"arm64", "x86_64"};
  EXPECT_TRUE(silent(report, mac(), "numpy architecture"));
  report.packages.front().architectures.clear();
  EXPECT_TRUE(silent(report, mac(), "numpy architecture"));
}

TEST(PythonChecks, AnX86TorchOnAnAppleChipIsBad) {
  auto report = python("x86_64");
  install(report, "torch", "2.2.2", {"x86_64"});
  EXPECT_EQ(found(report, mac(), "torch build").verdict, Verdict::bad);
  EXPECT_TRUE(silent(report, linux_box(), "torch build"));
  EXPECT_TRUE(silent(with_torch("2.2.2"), mac(), "torch build"));
}

TEST(PythonChecks, ATorchThatCannotBeImportedIsBad) {
  auto report = with_torch("2.6.0");
  report.torch.imported = false;
  report.torch.error = "ImportError: no libomp";
  auto check = found(report, mac(), "torch");
  EXPECT_EQ(check.verdict, Verdict::bad);
  EXPECT_TRUE(contains(check.found, "ImportError: no libomp"));
  report.torch.error = "";
  report.torch.run.end = End::signalled;
  report.torch.run.error = "signal 11 (Segmentation fault)";
  check = found(report, linux_box(), "torch");
  EXPECT_TRUE(contains(check.found, "signal 11")) << check.found;
  EXPECT_EQ(found(with_torch("2.6.0"), mac(), "torch").verdict, Verdict::ok);
  EXPECT_TRUE(silent(python(), mac(), "torch"));
}

TEST(PythonChecks, MpsMustBeBuiltAvailableAndUsable) {
  auto report = with_torch("2.13.0");
  EXPECT_EQ(found(report, mac(), "MPS").verdict, Verdict::ok);
  report.torch.mps.usable = false;
  report.torch.mps.error = "RuntimeError: Tried to allocate 256 bytes";
  auto check = found(report, mac(), "MPS");
  EXPECT_EQ(check.verdict, Verdict::bad);
  EXPECT_EQ(check.source, "pytorch#125197");
  EXPECT_TRUE(contains(check.found, "256 bytes"));
  report.torch.mps.available = false;
  EXPECT_TRUE(contains(found(report, mac(), "MPS").found, "not available"));
  report.torch.mps.built = false;
  EXPECT_TRUE(contains(found(report, mac(), "MPS").found, "without MPS"));
  EXPECT_TRUE(silent(report, linux_box(), "MPS"));
}

TEST(PythonChecks, MpsThatIsNotAvailableComesWithTheReason) {
  auto report = with_torch("2.9.0");
  report.torch.mps = {true, false, false, false, ""};
  EXPECT_TRUE(contains(found(report, mac("13.7"), "MPS").found, "too old"));
  EXPECT_TRUE(contains(found(report, mac(), "MPS").found, "no device"));
  auto machine = mac();
  machine.platform.vm = "apple";
  EXPECT_TRUE(contains(found(report, machine, "MPS").found, "virtual"));
  report.architecture = "x86_64";
  EXPECT_TRUE(contains(found(report, mac(), "MPS").found, "Rosetta"));
}

TEST(PythonChecks, ACrashWhileTryingMpsIsNamed) {
  auto report = with_torch("2.13.0");
  report.torch.step = "mps";
  report.torch.run.end = End::signalled;
  report.torch.run.error = "signal 6 (Aborted)";
  const auto check = found(report, mac(), "MPS");
  EXPECT_EQ(check.verdict, Verdict::bad);
  EXPECT_TRUE(contains(check.found, "signal 6"));
}

TEST(PythonChecks, EachTorchHasItsOldestMacos) {
  const auto fires = [](const char* torch, const char* macos) {
    return !silent(with_torch(torch), mac(macos), "macOS for MPS");
  };
  EXPECT_TRUE(fires("1.13.1", "12.2"));
  EXPECT_FALSE(fires("1.13.1", "12.3"));
  EXPECT_TRUE(fires("2.6.0", "12.7"));
  EXPECT_FALSE(fires("2.5.1", "12.7"));
  EXPECT_FALSE(fires("2.6.0", "13.0"));
  EXPECT_TRUE(fires("2.9.0", "13.7.4"));
  EXPECT_FALSE(fires("2.8.0", "13.7.4"));
  EXPECT_FALSE(fires("2.9.0", "14.0"));
  EXPECT_TRUE(silent(with_torch("2.9.0"), linux_box(), "macOS for MPS"));
}

TEST(PythonChecks, ACpuTorchBesideAnNvidiaGpuIsAWarning) {
  auto machine = linux_box();
  machine.gpus.push_back({.vendor = "nvidia", .model = "RTX 4090"});
  auto report = with_torch("2.6.0+cpu");
  auto check = found(report, machine, "CUDA");
  EXPECT_EQ(check.verdict, Verdict::warn);
  EXPECT_TRUE(contains(check.found, "RTX 4090"));
  report.torch.cuda = {true, false, false, false, ""};
  EXPECT_TRUE(contains(found(report, machine, "CUDA").found, "no driver"));
  report.torch.cuda = {true, true, false, false, "RuntimeError: CUDA error"};
  EXPECT_TRUE(contains(found(report, machine, "CUDA").found, "CUDA error"));
  report.torch.cuda.usable = true;
  EXPECT_EQ(found(report, machine, "CUDA").verdict, Verdict::ok);
  report.torch.step = "cuda";
  report.torch.run.error = "no end within 90.0 s";
  EXPECT_EQ(found(report, machine, "CUDA").verdict, Verdict::bad);
  EXPECT_TRUE(silent(report, linux_box(), "CUDA"));
}

TEST(PythonChecks, TorchvisionMustBelongToItsTorch) {
  const auto fires = [](const char* torch, const char* vision) {
    auto report = with_torch(torch);
    install(report, "torchvision", vision);
    return !silent(report, linux_box(), "torchvision");
  };
  EXPECT_FALSE(fires("1.13.1", "0.14.1"));
  EXPECT_FALSE(fires("2.0.1", "0.15.2"));
  EXPECT_FALSE(fires("2.7.0", "0.22.0"));
  EXPECT_TRUE(fires("2.0.1", "0.14.1"));
  EXPECT_TRUE(fires("2.8.0+cu128", "0.22.1"));
  EXPECT_FALSE(fires("2.8.0.dev20250601", "0.22.0"));
  EXPECT_FALSE(fires("2.6.0", "unknown"));
}

TEST(PythonChecks, TensorflowWithoutMetalIsSlowOnAppleChips) {
  auto report = python();
  install(report, "tensorflow-macos", "2.12.0");
  EXPECT_EQ(found(report, mac(), "TensorFlow GPU").verdict, Verdict::note);
  EXPECT_TRUE(silent(report, linux_box(), "TensorFlow GPU"));
  install(report, "tensorflow-metal", "1.0.0");
  EXPECT_TRUE(silent(report, mac(), "TensorFlow GPU"));
  EXPECT_TRUE(silent(python(), mac(), "TensorFlow GPU"));
}

TEST(PythonChecks, TwoTensorflowsOfDifferentVersionsAreBad) {
  auto report = python();
  install(report, "tensorflow", "2.13.0");
  install(report, "tensorflow-macos", "2.12.0");
  EXPECT_EQ(found(report, mac(), "TensorFlow twice").verdict, Verdict::bad);
  report.packages.back().version = "2.13.0";
  EXPECT_TRUE(silent(report, mac(), "TensorFlow twice"));
}

TEST(PythonChecks, VerdictsHaveNames) {
  EXPECT_STREQ(to_string(Verdict::ok), "ok");
  EXPECT_STREQ(to_string(Verdict::bad), "bad");
}

} // namespace
} // namespace temper::doctor
