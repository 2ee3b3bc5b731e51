#include "temper/graph/ir/dtype.h"

#include <array>

#include "temper/base/error.h"

namespace temper::graph {
namespace {

struct Row {
  DType type;
  std::size_t bytes;
  const char* name;
  const char* safetensors;
  bool floating;
};

constexpr std::array<Row, 10> kTypes{{
    {DType::kUint8, 1, "uint8", "U8", false},
    {DType::kInt8, 1, "int8", "I8", false},
    {DType::kInt16, 2, "int16", "I16", false},
    {DType::kInt32, 4, "int32", "I32", false},
    {DType::kInt64, 8, "int64", "I64", false},
    {DType::kFloat16, 2, "float16", "F16", true},
    {DType::kFloat32, 4, "float32", "F32", true},
    {DType::kFloat64, 8, "float64", "F64", true},
    {DType::kBool, 1, "bool", "BOOL", false},
    {DType::kBfloat16, 2, "bfloat16", "BF16", true},
}};

const Row& row(DType type) {
  for (const Row& each : kTypes)
    if (each.type == type) return each;
  throw Bug("a dtype outside the table");
}

template <class Matches>
std::optional<DType> find(const Matches& matches) {
  for (const Row& each : kTypes)
    if (matches(each)) return each.type;
  return std::nullopt;
}

} // namespace

std::size_t bytes_of(DType type) {
  return row(type).bytes;
}

const char* name_of(DType type) {
  return row(type).name;
}

const char* safetensors_name(DType type) {
  return row(type).safetensors;
}

bool is_floating(DType type) {
  return row(type).floating;
}

std::optional<DType> dtype_of_code(std::int64_t code) {
  return find([&](const Row& each) {
    return static_cast<std::int64_t>(each.type) == code;
  });
}

std::optional<DType> dtype_named(std::string_view name) {
  return find([&](const Row& each) { return each.name == name; });
}

std::optional<DType> dtype_of_safetensors(std::string_view name) {
  return find([&](const Row& each) { return each.safetensors == name; });
}

} // namespace temper::graph
