#include "temper/graph/ir/dtype.h"

#include <gtest/gtest.h>

namespace temper::graph {
namespace {

TEST(DType, every_type_is_found_again_by_its_code_and_names) {
  for (int code = 0; code <= 64; ++code) {
    const auto type = dtype_of_code(code);
    if (!type) continue;
    EXPECT_EQ(static_cast<int>(*type), code);
    EXPECT_EQ(dtype_named(name_of(*type)), type);
    EXPECT_EQ(dtype_of_safetensors(safetensors_name(*type)), type);
  }
}

TEST(DType, the_codes_are_those_of_torch_export) {
  EXPECT_EQ(dtype_of_code(5), DType::kInt64);
  EXPECT_EQ(dtype_of_code(7), DType::kFloat32);
  EXPECT_EQ(dtype_of_code(13), DType::kBfloat16);
  EXPECT_EQ(bytes_of(DType::kBfloat16), 2U);
}

TEST(DType, a_code_or_name_it_does_not_know_is_nothing) {
  EXPECT_FALSE(dtype_of_code(0));
  EXPECT_FALSE(dtype_of_code(9));
  EXPECT_FALSE(dtype_of_code(-1));
  EXPECT_FALSE(dtype_named("float8"));
  EXPECT_FALSE(dtype_of_safetensors("F8_E4M3"));
}

} // namespace
} // namespace temper::graph
