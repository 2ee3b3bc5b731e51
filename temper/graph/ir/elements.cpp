#include "temper/graph/ir/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::graph {
namespace {

// Both 16-bit types are a sign, an exponent and a fraction; they differ in how
// many bits each has.
struct Narrow {
  int fraction_bits;
  int bias;
  int exponent_bits;
};

Narrow narrow_of(DType dtype) {
  if (dtype == DType::kFloat16) return {10, 15, 5};
  if (dtype == DType::kBfloat16) return {7, 127, 8};
  throw Error(
      cat("[graph] a tensor of ", name_of(dtype), " holds no real numbers."),
      "Passes that compute weights work on floating-point models.");
}

double widen(std::uint16_t bits, const Narrow& type) {
  const int top = (1 << type.exponent_bits) - 1;
  const int exponent = (bits >> type.fraction_bits) & top;
  const int fraction = bits & ((1 << type.fraction_bits) - 1);
  double value = 0;
  if (exponent == top)
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(fraction, 1 - type.bias - type.fraction_bits);
  else
    value = std::ldexp(
        fraction + (1 << type.fraction_bits),
        exponent - type.bias - type.fraction_bits);
  return (bits >> 15) != 0 ? -value : value;
}

std::uint16_t shorten(double value, const Narrow& type) {
  const auto sign =
      static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const int top = (1 << type.exponent_bits) - 1;
  const auto infinity = static_cast<std::uint16_t>(top << type.fraction_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | 1);
  const double size = std::fabs(value);
  if (size == 0) return sign;
  if (std::isinf(size)) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = 0;
  std::frexp(size, &exponent);
  const int lowest = 1 - type.bias;
  const int scale = std::max(exponent - 1, lowest) - type.fraction_bits;
  // A fraction that rounds up to the next power of two carries into the
  // exponent by itself, since the two lie side by side.
  const double rounded = std::nearbyint(std::ldexp(size, -scale));
  const auto steps = static_cast<std::int64_t>(rounded);
  const std::int64_t base =
      std::max(exponent - 1, lowest) - lowest; // 0 for subnormal numbers too
  const std::int64_t bits = steps + (base << type.fraction_bits);
  if (bits >= infinity) return static_cast<std::uint16_t>(sign | infinity);
  return static_cast<std::uint16_t>(sign | bits);
}

template <class Element>
std::vector<double> copied(const TensorData& tensor, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Element element{};
    std::memcpy(
        &element, tensor.bytes.get() + i * sizeof(Element), sizeof(Element));
    values[i] = static_cast<double>(element);
  }
  return values;
}

template <class Element>
void put(std::byte* bytes, std::size_t index, Element element) {
  std::memcpy(bytes + index * sizeof(Element), &element, sizeof(Element));
}

} // namespace

std::vector<double> elements_of(const TensorData& tensor) {
  const std::size_t count = tensor.byte_count / bytes_of(tensor.dtype);
  if (tensor.dtype == DType::kFloat32) return copied<float>(tensor, count);
  if (tensor.dtype == DType::kFloat64) return copied<double>(tensor, count);
  const Narrow type = narrow_of(tensor.dtype);
  std::vector<double> values = copied<std::uint16_t>(tensor, count);
  for (double& value : values)
    value = widen(static_cast<std::uint16_t>(value), type);
  return values;
}

TensorData tensor_of(
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    const std::vector<double>& values) {
  NewTensor made = make_tensor(dtype, sizes);
  check(
      made.data.byte_count == values.size() * bytes_of(dtype),
      "as many values as the sizes say");
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kFloat32)
      put(made.bytes, i, static_cast<float>(values[i]));
    else if (dtype == DType::kFloat64)
      put(made.bytes, i, values[i]);
    else
      put(made.bytes, i, shorten(values[i], narrow_of(dtype)));
  }
  return made.data;
}

} // namespace temper::graph
