#include "temper/graph/ir/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "temper/base/error.h"

namespace temper::graph {
namespace {

std::uint16_t bits_of(DType dtype, double value) {
  const TensorData tensor = tensor_of(dtype, {1}, {value});
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.bytes.get(), sizeof(bits));
  return bits;
}

TEST(Elements, EveryNumberOfSixteenBitsComesBackAsItWas) {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16}) {
    NewTensor all = make_tensor(dtype, {65536});
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      std::memcpy(all.bytes + i * 2, &bits, 2);
    }
    const std::vector<double> values = elements_of(all.data);
    for (std::uint32_t i = 0; i < 65536; ++i) {
      if (std::isnan(values[i]))
        EXPECT_TRUE(
            std::isnan(elements_of(tensor_of(dtype, {1}, {values[i]}))[0]));
      else
        ASSERT_EQ(bits_of(dtype, values[i]), i) << name_of(dtype);
    }
  }
}

TEST(Elements, SixteenBitsRoundToNearestAndTiesToEven) {
  EXPECT_EQ(bits_of(DType::kFloat16, 1.0), 0x3C00);
  EXPECT_EQ(bits_of(DType::kFloat16, 1.0 + 1.0 / 2048), 0x3C00);
  EXPECT_EQ(bits_of(DType::kFloat16, 1.0 + 3.0 / 2048), 0x3C02);
  EXPECT_EQ(bits_of(DType::kFloat16, 2.0 - 1.0 / 4096), 0x4000);
  EXPECT_EQ(bits_of(DType::kFloat16, 65519), 0x7BFF);
  EXPECT_EQ(bits_of(DType::kFloat16, 65520), 0x7C00);
  EXPECT_EQ(bits_of(DType::kFloat16, -1e9), 0xFC00);
  EXPECT_EQ(bits_of(DType::kBfloat16, 1.0), 0x3F80);
  EXPECT_EQ(bits_of(DType::kBfloat16, -0.0), 0x8000);
}

TEST(Elements, WiderTypesAreCopied) {
  const std::vector<double> values{1.5, -0.25, 3};
  EXPECT_EQ(elements_of(tensor_of(DType::kFloat32, {3}, values)), values);
  EXPECT_EQ(elements_of(tensor_of(DType::kFloat64, {3}, values)), values);
}

TEST(Elements, WholeNumbersAreRefused) {
  EXPECT_THROW(elements_of(make_tensor(DType::kInt64, {2}).data), Error);
}

} // namespace
} // namespace temper::graph
