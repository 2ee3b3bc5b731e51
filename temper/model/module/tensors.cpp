#include "temper/model/module/tensors.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::model {
namespace {

constexpr std::array<std::pair<graph::DType, at::ScalarType>, 10> kTypes{{
    {graph::DType::kUint8, at::kByte},
    {graph::DType::kInt8, at::kChar},
    {graph::DType::kInt16, at::kShort},
    {graph::DType::kInt32, at::kInt},
    {graph::DType::kInt64, at::kLong},
    {graph::DType::kFloat16, at::kHalf},
    {graph::DType::kFloat32, at::kFloat},
    {graph::DType::kFloat64, at::kDouble},
    {graph::DType::kBool, at::kBool},
    {graph::DType::kBfloat16, at::kBFloat16},
}};

std::string type_text(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == type) return graph::name_of(ours);
  return c10::toString(type);
}

} // namespace

at::ScalarType scalar_type_of(graph::DType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == type) return theirs;
  throw Bug("an element type without LibTorch's name");
}

graph::DType dtype_of(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == type) return ours;
  throw Error(
      cat("[model] no file holds tensors of type ",
          c10::toString(type),
          ": only real numbers, integers and booleans are known."),
      "Convert the tensor first.");
}

at::Tensor tensor_of(const graph::TensorData& data) {
  const auto count = static_cast<std::size_t>(graph::element_count(data.sizes));
  if (count > data.byte_count ||
      count * graph::bytes_of(data.dtype) != data.byte_count ||
      (data.byte_count > 0 && data.bytes == nullptr))
    throw Error(
        cat("[model] a tensor of type ",
            graph::name_of(data.dtype),
            " and sizes ",
            sizes_text(data.sizes),
            " cannot be made from ",
            data.byte_count,
            " bytes: the sizes do not fit."));
  at::Tensor tensor = at::empty(data.sizes, scalar_type_of(data.dtype));
  if (data.byte_count > 0)
    std::memcpy(tensor.data_ptr(), data.bytes.get(), data.byte_count);
  return tensor;
}

graph::TensorData data_of(const at::Tensor& tensor) {
  graph::NewTensor made = graph::make_tensor(
      dtype_of(tensor.scalar_type()), tensor.sizes().vec(), false);
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  if (made.data.byte_count > 0)
    std::memcpy(made.bytes, host.data_ptr(), made.data.byte_count);
  return made.data;
}

std::string sizes_text(at::IntArrayRef sizes) {
  std::vector<std::string> parts;
  for (const auto size : sizes)
    parts.push_back(cat(size));
  return cat("[", join(parts, ", "), "]");
}

std::string tensor_text(const at::Tensor& tensor) {
  if (!tensor.defined()) return "none";
  return cat(type_text(tensor.scalar_type()), " ", sizes_text(tensor.sizes()));
}

} // namespace temper::model
