#include "temper/kernels/fma_peak.h"

#include <gtest/gtest.h>

namespace temper::kernels {
namespace {

TEST(FmaPeak, IsAPlausibleSpeedOfARealCore) {
  const FmaPeak peak = fma_peak(0.01);
  EXPECT_FALSE(peak.target.empty());
  // Wide enough for a phone and for an emulator; a loop that the compiler
  // removed would be far above.
  EXPECT_GT(peak.gflops, 0.01);
  EXPECT_LT(peak.gflops, 1000);
}

} // namespace
} // namespace temper::kernels
