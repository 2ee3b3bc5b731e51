#include "temper/weights/tensor_view.h"

#include <algorithm>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/weights/safetensors_header.h"

namespace temper::weights {

using graph::DType;

graph::TensorData tensor_over(
    DType dtype,
    const std::vector<std::int64_t>& sizes,
    std::span<const std::uint8_t> bytes,
    const std::shared_ptr<const void>& owner,
    const std::string& file,
    const std::string& name) {
  if (dtype == DType::kBool &&
      !std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) {
        return byte <= 1;
      }))
    throw Error(
        cat("[model] cannot read ",
            file,
            ": tensor ",
            shown_name(name),
            " is not all true and false."),
        "Download or save the file again.");
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (address % graph::bytes_of(dtype) != 0) {
    auto copy = graph::make_tensor(dtype, sizes);
    if (!bytes.empty()) std::memcpy(copy.bytes, bytes.data(), bytes.size());
    return copy.data;
  }
  graph::TensorData tensor{dtype, sizes, nullptr, bytes.size()};
  if (!bytes.empty())
    tensor.bytes = {owner, reinterpret_cast<const std::byte*>(bytes.data())};
  return tensor;
}

bool fits(const StridedPlace& place, std::int64_t elements) {
  std::int64_t count = 1;
  std::int64_t last = place.offset;
  const bool empty =
      std::find(place.sizes.begin(), place.sizes.end(), 0) != place.sizes.end();
  if (empty) return place.offset <= elements;
  for (std::size_t i = 0; i < place.sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(count, place.sizes[i], &count) ||
        __builtin_mul_overflow(place.sizes[i] - 1, place.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return count <= elements && last < elements;
}

bool is_contiguous(const StridedPlace& place) {
  std::int64_t expected = 1;
  for (std::size_t i = place.sizes.size(); i > 0; --i) {
    const std::int64_t size = place.sizes[i - 1];
    if (size == 0) return true;
    if (size != 1 && place.strides[i - 1] != expected) return false;
    expected *= size;
  }
  return true;
}

graph::TensorData gathered(
    DType dtype,
    const StridedPlace& place,
    std::span<const std::uint8_t> storage) {
  auto made = graph::make_tensor(dtype, place.sizes);
  const std::size_t width = graph::bytes_of(dtype);
  const std::size_t count = made.data.byte_count / width;
  std::vector<std::int64_t> index(place.sizes.size(), 0);
  std::int64_t from = place.offset;
  for (std::size_t to = 0; to < count; ++to) {
    std::memcpy(
        made.bytes + to * width,
        storage.data() + static_cast<std::size_t>(from) * width,
        width);
    for (std::size_t d = index.size(); d > 0; --d) {
      from += place.strides[d - 1];
      if (++index[d - 1] < place.sizes[d - 1]) break;
      from -= place.strides[d - 1] * place.sizes[d - 1];
      index[d - 1] = 0;
    }
  }
  return made.data;
}

} // namespace temper::weights
