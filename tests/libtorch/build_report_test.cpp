#include <gtest/gtest.h>

#include "temper/libtorch/facts.h"

namespace temper::libtorch {
namespace {

// As LibTorch prints them, shortened.
constexpr const char* kDebian =
    "PyTorch built with:\n"
    "  - GCC 12.2\n"
    "  - CPU capability usage: AVX2\n"
    "  - Build settings: BLAS_INFO=generic, BUILD_TYPE=RelWithDebInfo, "
    "CXX_FLAGS=-DUSE_CUDA=1 -O2, LAPACK_INFO=generic, TORCH_VERSION=1.13.0, "
    "USE_CUDA=OFF, USE_MKLDNN=ON, USE_OPENMP=ON, \n";

constexpr const char* kMacWheel =
    "PyTorch built with:\n"
    "  - clang 15.0.0\n"
    "  - Build settings: BLAS_INFO=accelerate, BUILD_TYPE=Release, "
    "LAPACK_INFO=accelerate, TORCH_VERSION=2.8.0, USE_CUDA=OFF, "
    "USE_MKLDNN=OFF, USE_OPENMP=ON, \n";

TEST(BuildReport, DebiansIsRead) {
  const auto report = read_build_report(kDebian);
  EXPECT_EQ(report.version, "1.13.0");
  EXPECT_EQ(report.blas, "generic");
  EXPECT_EQ(report.lapack, "generic");
  EXPECT_EQ(report.cpu_capability, "AVX2");
  EXPECT_TRUE(report.onednn);
  EXPECT_TRUE(report.openmp);
  EXPECT_FALSE(report.cuda);
}

TEST(BuildReport, AMacWheelsIsRead) {
  const auto report = read_build_report(kMacWheel);
  EXPECT_EQ(report.version, "2.8.0");
  EXPECT_EQ(report.blas, "accelerate");
  EXPECT_EQ(report.cpu_capability, "");
  EXPECT_FALSE(report.onednn);
}

TEST(BuildReport, AnEmptyOrStrangeTextGivesNothing) {
  for (const char* text : {"", "TORCH_VERSION=", "  - Build settings: , ,=,"}) {
    const auto report = read_build_report(text);
    EXPECT_EQ(report.version, "");
    EXPECT_FALSE(report.cuda);
  }
}

} // namespace
} // namespace temper::libtorch
