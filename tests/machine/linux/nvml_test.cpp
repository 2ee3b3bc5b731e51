#include "temper/machine/linux/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace temper::machine {
namespace {

// Holds the fake library open, so that its counters outlive an Nvml.
class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(TEMPER_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void TearDown() override {
    number("fake_nvml_init_result") = 0;
    dlclose(library_);
  }
  int& number(const char* name) const {
    return *static_cast<int*>(dlsym(library_, name));
  }
  void* library_ = nullptr;
};

TEST_F(NvmlTest, EachReachableGpuIsRead) {
  const auto nvml = Nvml::open(TEMPER_FAKE_NVML);
  ASSERT_NE(nvml, nullptr);
  const auto gpus = nvml->read();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(gpus[0].utilisation, 0.87);
  EXPECT_EQ(gpus[0].used_bytes, 8'000U);
  EXPECT_EQ(gpus[0].total_bytes, 24'000U);
}

TEST_F(NvmlTest, WhatAGpuDoesNotReportStaysEmpty) {
  const auto gpus = Nvml::open(TEMPER_FAKE_NVML)->read();
  EXPECT_EQ(gpus[1].name, "NVIDIA A100-SXM4-40GB");
  EXPECT_FALSE(gpus[1].utilisation);
  EXPECT_TRUE(gpus[1].used_bytes);
}

TEST_F(NvmlTest, TheLibraryIsStoppedAsOftenAsItWasStarted) {
  {
    const auto nvml = Nvml::open(TEMPER_FAKE_NVML);
    EXPECT_EQ(number("fake_nvml_running"), 1);
  }
  EXPECT_EQ(number("fake_nvml_running"), 0);
}

TEST_F(NvmlTest, WithoutADriverThereIsNothingToReadOrStop) {
  number("fake_nvml_init_result") = 9; // NVML_ERROR_DRIVER_NOT_LOADED
  EXPECT_EQ(Nvml::open(TEMPER_FAKE_NVML), nullptr);
  EXPECT_EQ(number("fake_nvml_running"), 0);
}

TEST(Nvml, AMissingLibraryIsNothing) {
  EXPECT_EQ(Nvml::open("libno-such-nvidia-ml.so.1"), nullptr);
}

TEST(Nvml, ALibraryWithoutTheFunctionsIsNothing) {
  EXPECT_EQ(Nvml::open(TEMPER_OTHER_LIBRARY), nullptr);
}

} // namespace
} // namespace temper::machine
