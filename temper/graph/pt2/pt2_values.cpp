#include "temper/graph/pt2/pt2_values.h"

#include <limits>

#include "temper/base/text.h"

namespace temper::graph::pt2 {
namespace {

// torch.export's own limit is PyTorch's: 64 dimensions.
constexpr std::size_t kMostDimensions = 64;
constexpr std::int64_t kLargestLayout = 1000;

Size read_expression(const Json& json) {
  const std::string text = name_of(need(json, "expr_str"), "expr_str");
  const Json* hint = find(json, "hint");
  std::int64_t example = 0;
  if (hint != nullptr && !hint->is_null()) {
    const auto [kind, value] = choice_of(*hint, "hint");
    if (kind == "as_int") example = int_of(value, "hint");
  }
  return {example, text};
}

Sizes read_sizes(const Json& json, const char* what) {
  Sizes sizes;
  if (list_of(json, what).size() > kMostDimensions)
    throw Unreadable(cat("it has ", json.size(), " dimensions"));
  for (const Json& each : json)
    sizes.push_back(read_size(each));
  return sizes;
}

Json write_sizes(const Sizes& sizes) {
  Json list = Json::array();
  for (const Size& each : sizes)
    list.push_back(write_size(each));
  return list;
}

Json write_expression(const Size& size, bool with_hint) {
  Json hint;
  // A size that depends on the data has no example.
  if (with_hint && size.value != 0) hint = {{"as_int", size.value}};
  return {{"as_expr", {{"expr_str", size.expression}, {"hint", hint}}}};
}

} // namespace

Size read_number(const Json& json) {
  const auto [kind, value] = choice_of(json, "number");
  if (kind == "as_int") return int_of(value, "as_int");
  if (kind == "as_expr") return read_expression(value);
  throw Unreadable(cat("it has a number of the kind ", shown(kind)));
}

Json write_number(const Size& size, NumberKind kind) {
  if (size.fixed()) return {{"as_int", size.value}};
  return write_expression(size, kind == NumberKind::kInt);
}

Size read_size(const Json& json) {
  const Size size = read_number(json);
  if (size.value < 0) throw Unreadable(cat("it has a size of ", size.value));
  return size;
}

Json write_size(const Size& size) {
  return write_number(size, NumberKind::kInt);
}

void refuse_complex() {
  throw Unreadable(
      "it computes with complex numbers, which temper does not read",
      "Write it with real numbers: real and imaginary part as two tensors, a "
      "Fourier transform as a matrix product with its cosines and sines.");
}

DType read_dtype(const Json& json) {
  const std::int64_t code = int_of(json, "dtype");
  constexpr std::int64_t kFirstComplex = 9;
  constexpr std::int64_t kLastComplex = 11;
  if (code >= kFirstComplex && code <= kLastComplex) refuse_complex();
  const auto type = dtype_of_code(code);
  if (!type)
    throw Unreadable(
        cat("it has elements of a type (",
            code,
            " in torch.export's count) that temper does not know"),
        "Compute in float32, float64, float16 or bfloat16.");
  return *type;
}

Device read_device(const Json& json) {
  Device device;
  device.type = name_of(need(object_of(json, "device"), "type"), "type");
  const Json* index = find(json, "index");
  if (index == nullptr || index->is_null()) return device;
  const std::int64_t number = int_of(*index, "index");
  if (number < 0 || number > std::numeric_limits<std::int16_t>::max())
    throw Unreadable(cat("it is on a device number ", number));
  device.index = static_cast<int>(number);
  return device;
}

Json write_device(const Device& device) {
  Json index;
  if (device.index) index = *device.index;
  return {{"type", device.type}, {"index", index}};
}

TensorMeta read_meta(const Json& json) {
  TensorMeta meta;
  meta.dtype = read_dtype(need(json, "dtype"));
  meta.sizes = read_sizes(need(json, "sizes"), "sizes");
  if (const Json* strides = find(json, "strides"))
    meta.strides = read_sizes(*strides, "strides");
  else
    meta.strides = contiguous_strides(meta.sizes);
  if (meta.strides.size() != meta.sizes.size())
    throw Unreadable("it has other strides than sizes");
  if (const Json* offset = find(json, "storage_offset"))
    meta.storage_offset = read_size(*offset);
  if (const Json* grad = find(json, "requires_grad"))
    meta.requires_grad = bool_of(*grad, "requires_grad");
  if (const Json* device = find(json, "device"))
    meta.device = read_device(*device);
  if (const Json* layout = find(json, "layout")) {
    const std::int64_t code = int_of(*layout, "layout");
    if (code < 0 || code > kLargestLayout)
      throw Unreadable(cat("it has the layout ", code));
    meta.layout = static_cast<int>(code);
  }
  return meta;
}

Json write_meta(const TensorMeta& meta) {
  return {
      {"dtype", static_cast<int>(meta.dtype)},
      {"sizes", write_sizes(meta.sizes)},
      {"requires_grad", meta.requires_grad},
      {"device", write_device(meta.device)},
      {"strides", write_sizes(meta.strides)},
      {"storage_offset", write_size(meta.storage_offset)},
      {"layout", meta.layout}};
}

Sizes contiguous_strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), Size(1));
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    const std::int64_t size = sizes[i].value > 0 ? sizes[i].value : 1;
    if (__builtin_mul_overflow(step, size, &step))
      throw Unreadable("it has more elements than memory can hold");
  }
  return strides;
}

} // namespace temper::graph::pt2
