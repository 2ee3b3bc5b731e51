// Narrow floating-point numbers as wider ones. Every value has an equal there,
// infinities and NaN too.
#include <bit>
#include <cstring>

#include "temper/base/error.h"
#include "temper/weights/load_weights.h"

namespace temper::weights {
namespace {

using graph::DType;

float of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float of_float16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) { // zero and the subnormal: fraction * 2^-24
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign == 0 ? size : -size;
  }
  // Infinity and NaN have all ones in either format.
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <class From, class To, class Convert>
void convert_all(
    const graph::TensorData& from,
    std::byte* to,
    const Convert& convert) {
  const std::size_t count = from.byte_count / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.bytes.get() + i * sizeof(From), sizeof(From));
    const auto wide = static_cast<To>(convert(value));
    std::memcpy(to + i * sizeof(To), &wide, sizeof(To));
  }
}

template <class To>
void convert_to(const graph::TensorData& from, std::byte* to) {
  if (from.dtype == DType::kFloat16)
    convert_all<std::uint16_t, To>(from, to, of_float16);
  else if (from.dtype == DType::kBfloat16)
    convert_all<std::uint16_t, To>(from, to, of_bfloat16);
  else
    convert_all<float, To>(from, to, [](float value) { return value; });
}

} // namespace

bool can_widen(DType from, DType to) {
  const bool half = from == DType::kFloat16 || from == DType::kBfloat16;
  return (half && (to == DType::kFloat32 || to == DType::kFloat64)) ||
      (from == DType::kFloat32 && to == DType::kFloat64);
}

graph::TensorData widened(const graph::TensorData& tensor, DType to) {
  check(can_widen(tensor.dtype, to), "a type that can be widened");
  auto wide = graph::make_tensor(to, tensor.sizes);
  if (to == DType::kFloat32)
    convert_to<float>(tensor, wide.bytes);
  else
    convert_to<double>(tensor, wide.bytes);
  return wide.data;
}

} // namespace temper::weights
