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
#include <torch/library.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "sim_mps_memory.h"

namespace temper::sim_mps {
namespace {

const c10::DispatchKeySet kKeys{c10::DispatchKey::MPS};

bool on_device(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kMps;
}

// A single number may be float64: 1.13 makes one on its way back through a
// product with a number.
void check_type(at::ScalarType type, bool number) {
  TORCH_CHECK_TYPE(
      type != at::kDouble || number,
      "Cannot convert a MPS Tensor to float64 dtype as the MPS framework "
      "doesn't support float64. Please use float32 instead.");
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
  check_type(host.scalar_type(), host.dim() == 0);
  c10::Storage storage(
      c10::Storage::use_byte_size_t(),
      static_cast<std::int64_t>(host.storage().nbytes()),
      adopt_memory(host.storage()),
      &allocator(),
      true);
  return device_tensor(std::move(storage), host);
}

// The tensors of one call, there and here.
class Call {
 public:
  explicit Call(const c10::OperatorHandle& op) : op_(op) {}

  void enter(c10::IValue& value, bool written) {
    if (value.isTensor()) {
      value = written && on_device(value.toTensor()) &&
              value.toTensor().numel() == 0
          ? stand_in(value.toTensor())
          : host_of(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector())
        list.push_back(host_of(each));
      value = std::move(list);
    } else if (value.isOptionalTensorList()) { // indices
      c10::List<c10::optional<at::Tensor>> list;
      for (const c10::optional<at::Tensor>& each :
           value.toOptionalTensorList().vec())
        list.push_back(
            each.has_value() ? c10::optional<at::Tensor>(host_of(*each))
                             : each);
      value = std::move(list);
    } else if (value.isDevice()) {
      value = c10::Device(at::kCPU);
    }
  }

  // As the real device says it. A number in a tensor goes along everywhere.
  void refuse_mixture() const {
    TORCH_CHECK(
        !device_ || !elsewhere_,
        "Expected all tensors to be on the same device, but found at least two "
        "devices, mps:0 and cpu! (when checking arguments of ",
        op_.operator_name().name,
        ")");
  }

  // What the kernel made of results it was given empty.
  void fill_results() {
    for (auto& [host, device] : results_) {
      const at::Tensor made = adopt(host);
      auto* impl = device.unsafeGetTensorImpl();
      impl->set_storage_keep_dtype(made.storage());
      impl->set_sizes_and_strides(made.sizes(), made.strides());
    }
  }

  // `written`: the argument that the result is, if it is one.
  void leave(c10::IValue& value, const c10::IValue* written) {
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector())
        list.push_back(device_of(each));
      value = std::move(list);
    }
    if (!value.isTensor() || !value.toTensor().defined()) return;
    const at::Tensor host = value.toTensor();
    const bool computed = written != nullptr || source(host) == nullptr;
    if (state().fault == Fault::wrong_numbers && computed) host.add_(1);
    value = written != nullptr ? *written : c10::IValue(device_of(host));
  }

 private:
  at::Tensor host_of(const at::Tensor& tensor) {
    if (!on_device(tensor)) {
      elsewhere_ = elsewhere_ || (tensor.defined() && tensor.dim() > 0);
      return tensor;
    }
    device_ = true;
    const at::Tensor host = as_host(tensor);
    sources_[host.storage().unsafeGetStorageImpl()] = tensor;
    kept_.push_back(host);
    return host;
  }

  // An empty result, which the kernel resizes: a view could not be.
  at::Tensor stand_in(const at::Tensor& device) {
    device_ = true;
    const at::Tensor host =
        at::empty(device.sizes(), device.options().device(at::kCPU));
    results_.emplace_back(host, device);
    return host;
  }

  const at::Tensor* source(const at::Tensor& host) const {
    const auto found = sources_.find(host.storage().unsafeGetStorageImpl());
    return found == sources_.end() ? nullptr : &found->second;
  }

  at::Tensor device_of(const at::Tensor& host) const {
    if (!host.defined()) return host;
    const at::Tensor* of = source(host);
    return of == nullptr ? adopt(host)
                         : device_tensor(of->storage(), host); // a view
  }

  const c10::OperatorHandle& op_;
  std::unordered_map<const void*, at::Tensor> sources_; // by storage
  std::vector<std::pair<at::Tensor, at::Tensor>> results_; // here and there
  // LibTorch returns references to the tensors of its stack, which it drops.
  std::vector<at::Tensor> kept_;
  bool device_ = false;
  bool elsewhere_ = false;
};

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  ++state().operators;
  const auto& schema = op.schema();
  // item(), and what LibTorch does with it out of sight.
  if (schema.name() == "aten::_local_scalar_dense") ++state().reads_from;
  const at::AutoDispatchBelowADInplaceOrView below;
  const std::size_t arguments = schema.arguments().size();
  const std::size_t base = stack->size() - arguments;
  const std::vector<c10::IValue> given(
      stack->end() - static_cast<std::ptrdiff_t>(arguments), stack->end());
  Call call(op);
  for (std::size_t i = 0; i < arguments; ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    call.enter((*stack)[base + i], alias != nullptr && alias->isWrite());
  }
  call.refuse_mixture();
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  call.fill_results();
  const auto& returns = schema.returns();
  const std::size_t first = stack->size() - returns.size();
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const auto* alias = returns[i].alias_info();
    const c10::IValue* written = nullptr;
    for (std::size_t a = 0; a < arguments; ++a) {
      const auto* of = schema.arguments()[a].alias_info();
      if (alias != nullptr && alias->isWrite() && of != nullptr &&
          *of == *alias)
        written = &given[a];
    }
    call.leave((*stack)[first + i], written);
  }
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
      size, &allocator(), kKeys, type.value_or(at::kFloat), format);
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
      size, stride, &allocator(), kKeys, type.value_or(at::kFloat));
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  if (on_device(from) != on_device(to))
    ++(on_device(to) ? state().copies_to : state().reads_from);
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
  // Those that LibTorch would send elsewhere, or compute by another formula.
  for (const char* name :
       {"convolution",
        "convolution_backward",
        "native_layer_norm",
        "native_layer_norm_backward",
        "native_group_norm",
        "silu_backward"})
    library.impl(
        name, torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

} // namespace temper::sim_mps
