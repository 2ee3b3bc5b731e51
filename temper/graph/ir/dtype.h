// The element types of tensors. The numbers are those torch.export writes into
// its files; safetensors and NumPy names hang on the same table. Used by the
// graph, by weights files and by whatever counts bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace temper::graph {

enum class DType : std::uint8_t {
  kUint8 = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kFloat16 = 6,
  kFloat32 = 7,
  kFloat64 = 8,
  kBool = 12,
  kBfloat16 = 13,
};

std::size_t bytes_of(DType type);
// "float32", "bfloat16", as PyTorch prints it.
const char* name_of(DType type);
// "F32", "BF16", as safetensors writes it.
const char* safetensors_name(DType type);
bool is_floating(DType type);

// The type of that code or name; no value for one that temper does not know.
std::optional<DType> dtype_of_code(std::int64_t code);
std::optional<DType> dtype_named(std::string_view name);
std::optional<DType> dtype_of_safetensors(std::string_view name);

} // namespace temper::graph
