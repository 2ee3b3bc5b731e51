// How tensors of the simulated device come to be, change their size and move.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <torch/library.h>

#include <utility>

#include "temper/libtorch/sim/sim_device.h"

namespace temper::libtorch::sim {
namespace {

c10::DispatchKeySet keys() {
  return c10::DispatchKeySet(dispatch_key());
}

at::Tensor empty(
    c10::IntArrayRef size,
    c10::optional<at::ScalarType> type,
    c10::optional<at::Layout>,
    c10::optional<at::Device>,
    c10::optional<bool>,
    c10::optional<at::MemoryFormat> format) {
  check_type(type.value_or(at::kFloat), size.empty());
  return at::detail::empty_generic(
      size, &allocator(), keys(), type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::optional<at::ScalarType> type,
    c10::optional<at::Layout>,
    c10::optional<at::Device>,
    c10::optional<bool>) {
  check_type(type.value_or(at::kFloat), size.empty());
  return at::detail::empty_strided_generic(
      size, stride, &allocator(), keys(), type.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  count_copy(
      on_device(from),
      on_device(to),
      static_cast<std::uint64_t>(from.numel()) * from.element_size());
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor host = on_device(to) ? as_host(to) : to;
  host.copy_(on_device(from) ? as_host(from) : from);
  return to;
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool) {
  copy_from(from, to, false);
  return to;
}

// A larger storage gets new memory with the old content in front.
const at::Tensor& resize(
    const at::Tensor& tensor,
    c10::IntArrayRef size,
    c10::optional<at::MemoryFormat> format) {
  const at::Tensor shape =
      at::empty(size, tensor.options().device(at::kMeta), format);
  const std::size_t bytes = at::detail::computeStorageNbytes(
      shape.sizes(),
      shape.strides(),
      tensor.element_size(),
      static_cast<std::size_t>(tensor.storage_offset()));
  auto* storage = tensor.storage().unsafeGetStorageImpl();
  if (bytes > storage->nbytes()) {
    c10::DataPtr larger = allocator().allocate(bytes);
    if (storage->nbytes() > 0)
      std::memcpy(larger.get(), storage->data_ptr().get(), storage->nbytes());
    storage->set_data_ptr_noswap(std::move(larger));
    storage->set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(
      shape.sizes(), shape.strides());
  return tensor;
}

// LibTorch asks before it puts another device's tensor into a variable, and
// knows by name only its own devices.
bool may_replace(const at::Tensor&, const at::Tensor&) {
  return true;
}

} // namespace

bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == type();
}

at::Tensor as_host(const at::Tensor& tensor) {
  const auto& storage = tensor.storage();
  c10::Storage view(
      c10::Storage::use_byte_size_t(),
      static_cast<std::int64_t>(storage.nbytes()),
      c10::DataPtr(
          storage.unsafeGetStorageImpl()->data_ptr().get(),
          c10::Device(at::kCPU)),
      nullptr,
      false);
  auto host = at::detail::make_tensor<c10::TensorImpl>(
      std::move(view),
      c10::DispatchKeySet(c10::DispatchKey::CPU),
      tensor.dtype());
  host.unsafeGetTensorImpl()->set_sizes_and_strides(
      tensor.sizes(), tensor.strides(), tensor.storage_offset());
  // A number that was written in the code does not decide a result's type.
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    host.unsafeGetTensorImpl()->set_wrapped_number(true);
  return host;
}

at::Tensor device_tensor(c10::Storage storage, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), keys(), like.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(
      like.sizes(), like.strides(), like.storage_offset());
  return tensor;
}

at::Tensor adopt(const at::Tensor& host) {
  check_type(host.scalar_type(), host.dim() == 0);
  c10::Storage storage(
      c10::Storage::use_byte_size_t(),
      static_cast<std::int64_t>(host.storage().nbytes()),
      adopt_memory(host.storage()),
      &allocator(),
      true);
  return device_tensor(std::move(storage), host);
}

void register_tensors(torch::Library& aten) {
  aten.impl("empty.memory_format", empty);
  aten.impl("empty_strided", empty_strided);
  aten.impl("copy_", copy);
  aten.impl("_copy_from", copy_from);
  aten.impl("resize_", resize);
  if (key() == Key::own)
    aten.impl("_has_compatible_shallow_copy_type", may_replace);
}

} // namespace temper::libtorch::sim
