#include "temper/machine/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::machine {
namespace {

using testing::HasSubstr;

Machine with(int cuda_devices, bool mps) {
  Machine machine;
  machine.cpu.model = "Some CPU";
  machine.libtorch.present = true;
  machine.libtorch.cuda_built = cuda_devices > 0;
  machine.libtorch.cuda_devices = cuda_devices;
  machine.libtorch.mps_built = mps;
  machine.gpus = {{"nvidia", "First"}, {"nvidia", "Second"}, {"apple", "M2"}};
  return machine;
}

libtorch::DeviceTrial all_work(const std::string&) {
  return {true, ""};
}

libtorch::DeviceTrial only_cpu_works(const std::string& device) {
  if (device == "cpu") return {true, ""};
  return {false, "Tried to allocate 256 bytes on shared pool"};
}

std::vector<std::string> names(const std::vector<DeviceReport>& devices) {
  std::vector<std::string> out;
  for (const auto& device : devices)
    out.push_back(device.device);
  return out;
}

Error error_of(const std::string& request, const Machine& machine) {
  try {
    choose_device(request, list_devices(machine, only_cpu_works));
  } catch (const Error& error) {
    return error;
  }
  return Error("no error");
}

TEST(Devices, AreListedBestFirstWithTheirModels) {
  const auto devices = list_devices(with(2, true), all_work);
  EXPECT_EQ(
      names(devices),
      (std::vector<std::string>{"cuda:0", "cuda:1", "mps", "cpu"}));
  EXPECT_EQ(devices[1].model, "Second");
  EXPECT_EQ(devices[2].model, "M2");
  EXPECT_EQ(devices[3].model, "Some CPU");
}

TEST(Devices, WhatLibTorchWasNotBuiltForIsNotTried) {
  const auto devices = list_devices(with(0, false), [](const auto& device) {
    EXPECT_EQ(device, "cpu");
    return libtorch::DeviceTrial{true, ""};
  });
  EXPECT_EQ(names(devices), std::vector<std::string>{"cpu"});
}

TEST(Devices, CudaBuiltWithoutADeviceIsListedAsNotWorking) {
  Machine machine = with(0, false);
  machine.libtorch.cuda_built = true;
  const auto devices = list_devices(machine, all_work);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_FALSE(devices[0].works);
  EXPECT_THAT(devices[0].why_not, HasSubstr("no usable driver"));
}

TEST(Devices, AReportedGpuThatFailsItsTrialIsPassedOver) {
  const auto devices = list_devices(with(0, true), only_cpu_works);
  EXPECT_EQ(choose_device("auto", devices), "cpu");
  EXPECT_EQ(choose_device("any", devices), "cpu");
}

TEST(Devices, AutoNeverFailsEvenWhenNothingWorks) {
  EXPECT_EQ(choose_device("auto", {}), "cpu");
  EXPECT_EQ(choose_device("any", {{"cpu", "", false, "broken"}}), "cpu");
}

TEST(Devices, EveryNameATrainingUserKnowsIsUnderstood) {
  const auto devices = list_devices(with(2, true), all_work);
  EXPECT_EQ(choose_device("auto", devices), "cuda:0");
  EXPECT_EQ(choose_device("gpu", devices), "cuda:0");
  EXPECT_EQ(choose_device("cuda", devices), "cuda:0");
  EXPECT_EQ(choose_device("cuda:1", devices), "cuda:1");
  EXPECT_EQ(choose_device("mps", devices), "mps");
  EXPECT_EQ(choose_device("cpu", devices), "cpu");
}

TEST(Devices, GpuWithoutAGpuNamesWhatWasLookedForAndWhatThereIs) {
  const Error none = error_of("gpu", with(0, false));
  EXPECT_THAT(none.what(), HasSubstr("CUDA and MPS"));
  EXPECT_THAT(none.what(), HasSubstr("in this LibTorch and found none"));
  EXPECT_THAT(none.hint(), HasSubstr("Usable here: cpu"));

  const Error broken = error_of("gpu", with(0, true));
  EXPECT_THAT(broken.what(), HasSubstr("mps does not work (Tried to allocate"));
}

TEST(Devices, ACudaNumberThatIsNotThereIsAnError) {
  const auto devices = list_devices(with(2, false), all_work);
  try {
    choose_device("cuda:7", devices);
    FAIL() << "there is no cuda:7";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("looked for cuda:7 in this LibTorch"));
    EXPECT_THAT(error.hint(), HasSubstr("Usable here: cuda:0, cuda:1, cpu"));
  }
}

TEST(Devices, AMisspeltNameGetsTheNearestOne) {
  const Error error = error_of("gpuu", with(0, false));
  EXPECT_THAT(error.what(), HasSubstr("unknown device \"gpuu\""));
  EXPECT_THAT(error.hint(), HasSubstr("Did you mean gpu?"));
  for (const char* name :
       {"auto", "any", "cpu", "gpu", "mps", "cuda", "cuda:3", "sim"})
    EXPECT_FALSE(unknown_device(name)) << name;
  for (const char* name : {"", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "CPU"})
    EXPECT_TRUE(unknown_device(name)) << name;
}

TEST(Devices, TheSimulatedOneIsThereForThoseWhoNameIt) {
  const auto devices = list_devices(with(0, false), all_work);
  EXPECT_EQ(choose_device("sim", devices), "sim");
  EXPECT_EQ(choose_device("auto", devices), "cpu");
  for (const DeviceReport& each : devices)
    EXPECT_NE(each.device, "sim");
}

} // namespace
} // namespace temper::machine
