#include "temper/graph/ir/dtype.h"

#include <gtest/gtest.h>

namespace temper::graph {
namespace {

TEST(DType, EveryTypeIsFoundAgainByItsCodeAndNames) {
  for (int code = 0; code <= 64; ++code) {
    const auto type = dtype_of_code(code);
    if (!type) continue;
    EXPECT_EQ(static_cast<int>(*type), code);
    EXPECT_EQ(dtype_named(name_of(*type)), type);
    EXPECT_EQ(dtype_of_safetensors(safetensors_name(*type)), type);
  }
}

TEST(DType, TheCodesAreThoseOfTorchExport) {
  EXPECT_EQ(dtype_of_code(5), DType::kInt64);
  EXPECT_EQ(dtype_of_code(7), DType::kFloat32);
  EXPECT_EQ(dtype_of_code(13), DType::kBfloat16);
  EXPECT_EQ(bytes_of(DType::kBfloat16), 2U);
}

TEST(DType, ACodeOrNameItDoesNotKnowIsNothing) {
  EXPECT_FALSE(dtype_of_code(0));
  EXPECT_FALSE(dtype_of_code(9));
  EXPECT_FALSE(dtype_of_code(-1));
  EXPECT_FALSE(dtype_named("float8"));
  EXPECT_FALSE(dtype_of_safetensors("F8_E4M3"));
}

} // namespace
} // namespace temper::graph
