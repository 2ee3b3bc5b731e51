// How it works: an allocator and a device guard are registered for the MPS
// key, with the few operators that make and copy tensors. Every other operator
// falls back to `run_on_host`, which lays CPU tensors over the same bytes,
// calls the CPU kernel, and takes its results over as device tensors.
//
// LibTorch's stock CPU fallback is not used: it copies every argument, which
// would hide transfers, and it loses what operators write in place.
#include "sim_mps.h"

#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <cstdlib>
#include <unordered_map>
#include <vector>

namespace temper::sim_mps {
namespace {

constexpr c10::DeviceType kMps = c10::DeviceType::MPS;
const c10::DispatchKeySet kKeys{c10::DispatchKey::MPS};

std::atomic<Fault> fault{Fault::none};
std::atomic<std::int64_t> operators{0};
std::atomic<std::int64_t> in_use{0};

// What a device pointer owns: memory of its own, or a CPU result taken over.
struct Block {
  void* memory;
  std::size_t bytes;
  c10::Storage adopted;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  in_use -= static_cast<std::int64_t>(block->bytes);
  if (!block->adopted) std::free(block->memory);
  delete block;
}

c10::DataPtr take(std::size_t bytes) {
  TORCH_CHECK(
      fault != Fault::no_memory,
      "MPS backend out of memory (MPS allocated: 0 bytes, other allocations: 0 "
      "bytes, max allowed: 1.70 GB). Tried to allocate ",
      bytes,
      " bytes on shared pool.");
  void* memory = bytes > 0 ? std::malloc(bytes) : nullptr;
  in_use += static_cast<std::int64_t>(bytes);
  return {memory, new Block{memory, bytes, {}}, &release, c10::Device(kMps, 0)};
}

// The two ways LibTorch has declared this interface: allocate() lost its const
// and copy_data() was added in 2.3. Neither is marked override, so that one
// class serves both.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
struct SimAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const {
    return take(bytes);
  }
  c10::DataPtr allocate(std::size_t bytes) {
    return take(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};
#pragma GCC diagnostic pop

SimAllocator allocator;
const bool allocator_set = [] {
  c10::SetAllocator(kMps, &allocator);
  return true;
}();

struct SimGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return kMps;
  }
  c10::Device exchangeDevice(c10::Device) const override {
    return {kMps, 0};
  }
  c10::Device getDevice() const override {
    return {kMps, 0};
  }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {kMps, 0});
  }
  c10::Stream exchangeStream(c10::Stream) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, {kMps, 0});
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return 1;
  }
};
C10_REGISTER_GUARD_IMPL(MPS, SimGuard)

bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kMps;
}

// A CPU tensor over the bytes of a device tensor. It owns nothing: the device
// tensor outlives the call.
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
  return host;
}

at::Tensor device_tensor(c10::Storage storage, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), kKeys, like.dtype());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(
      like.sizes(), like.strides(), like.storage_offset());
  return tensor;
}

// A CPU result becomes a device tensor without a copy.
at::Tensor adopt(const at::Tensor& host) {
  const auto bytes = host.storage().nbytes();
  void* memory = host.storage().unsafeGetStorageImpl()->data_ptr().get();
  in_use += static_cast<std::int64_t>(bytes);
  c10::Storage storage(
      c10::Storage::use_byte_size_t(),
      static_cast<std::int64_t>(bytes),
      c10::DataPtr(
          memory,
          new Block{memory, bytes, host.storage()},
          &release,
          c10::Device(kMps, 0)),
      &allocator,
      true);
  return device_tensor(std::move(storage), host);
}

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++operators;
  const at::AutoDispatchBelowADInplaceOrView below;
  const auto& schema = op.schema();
  const std::size_t arguments = schema.arguments().size();
  const std::size_t base = stack->size() - arguments;
  const std::vector<c10::IValue> given(stack->begin() + base, stack->end());
  std::unordered_map<const void*, at::Tensor> sources; // by storage
  for (std::size_t i = 0; i < arguments; ++i) {
    auto& value = (*stack)[base + i];
    if (value.isDevice()) value = c10::Device(at::kCPU);
    if (!value.isTensor() || !on_device(value.toTensor())) continue;
    const at::Tensor device = value.toTensor();
    const at::Tensor host = as_host(device);
    sources[host.storage().unsafeGetStorageImpl()] = device;
    value = host;
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  const auto& returns = schema.returns();
  const std::size_t first = stack->size() - returns.size();
  for (std::size_t i = 0; i < returns.size(); ++i) {
    auto& value = (*stack)[first + i];
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const at::Tensor host = value.toTensor();
    const auto source = sources.find(host.storage().unsafeGetStorageImpl());
    const auto* alias = returns[i].alias_info();
    const bool computed = source == sources.end() ||
        (alias != nullptr && alias->isWrite()); // not a view
    if (fault == Fault::wrong_numbers && computed) host.add_(1);
    if (alias != nullptr && alias->isWrite()) { // the argument it wrote to
      for (std::size_t a = 0; a < arguments; ++a) {
        const auto* written = schema.arguments()[a].alias_info();
        if (written != nullptr && *written == *alias) value = given[a];
      }
      continue;
    }
    value = source == sources.end()
        ? adopt(host)
        : device_tensor(source->second.storage(), host); // a view
  }
}

at::Tensor empty(
    c10::IntArrayRef size,
    c10::optional<at::ScalarType> type,
    c10::optional<at::Layout>,
    c10::optional<at::Device>,
    c10::optional<bool>,
    c10::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(
      size, &allocator, kKeys, type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::optional<at::ScalarType> type,
    c10::optional<at::Layout>,
    c10::optional<at::Device>,
    c10::optional<bool>) {
  return at::detail::empty_strided_generic(
      size, stride, &allocator, kKeys, type.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor host = on_device(to) ? as_host(to) : to;
  host.copy_(on_device(from) ? as_host(from) : from);
  return to;
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool) {
  copy_from(from, to, false);
  return to;
}

} // namespace

TORCH_LIBRARY_IMPL(_, MPS, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

TORCH_LIBRARY_IMPL(aten, MPS, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("copy_", copy);
  library.impl("_copy_from", copy_from);
}

void set_fault(Fault value) {
  fault = value;
}

std::int64_t operators_run() {
  return operators;
}

std::int64_t bytes_in_use() {
  return in_use;
}

} // namespace temper::sim_mps
