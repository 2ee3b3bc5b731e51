#include "temper/kernels/simd/target.h"

#include <gtest/gtest.h>

#include "temper/base/error.h"

namespace temper::kernels {
namespace {

std::optional<Target> asked(const std::string& value) {
  return asked_target({{"TEMPER_VECTORS", value}});
}

TEST(Targets, TheVariableNamesAUnitThatTheProcessorHas) {
  EXPECT_EQ(asked_target({}), std::nullopt);
  EXPECT_EQ(asked(""), std::nullopt);
  EXPECT_EQ(asked("baseline"), Target::kBaseline);
  for (const Target each : runnable_targets()) {
    if (each == Target::kAvx2) {
      EXPECT_EQ(asked("avx2"), each);
    } else if (each == Target::kAvx512) {
      EXPECT_EQ(asked("avx512"), each);
    } else if (each == Target::kNeon) {
      EXPECT_EQ(asked("neon"), each);
    }
  }
}

TEST(Targets, AUnitThatIsNotThereIsRefusedWithThoseThatAre) {
  try {
    asked("avx9");
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("\"avx9\", and this machine has baseline"),
        std::string::npos)
        << error.what();
    EXPECT_NE(error.hint().find("TEMPER_VECTORS"), std::string::npos);
  }
}

} // namespace
} // namespace temper::kernels
