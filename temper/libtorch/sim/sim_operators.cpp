// One function stands in for all operators: it lays CPU tensors over the
// device's bytes, calls the CPU's kernel, and takes its results over.
//
// LibTorch's stock CPU fallback is not used: it copies every argument, which
// would hide transfers, and it loses what operators write in place without
// saying so in their schema, as BatchNorm does with its statistics.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "temper/libtorch/sim/sim_device.h"

namespace temper::libtorch::sim {
namespace {

// Their result, or its shape, is read by the host.
constexpr std::array kWaiting{
    "aten::_local_scalar_dense", // item()
    "aten::equal",
    "aten::nonzero",
    "aten::masked_select",
    "aten::_unique2",
};

// Indices may lie on the CPU: every device takes them along.
constexpr std::array kTakeIndices{
    "aten::index",
    "aten::index_put_",
    "aten::_index_put_impl_",
};

template <class Names>
bool is_one_of(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != std::end(names);
}

void distort(const at::Tensor& result, double part) {
  if (!result.is_floating_point()) return;
  const at::Tensor every_other =
      at::arange(result.numel(), at::kDouble).remainder(2).eq(0);
  result.mul_(every_other.to(at::kDouble)
                  .mul(part)
                  .add(1)
                  .to(result.scalar_type())
                  .reshape(result.sizes()));
}

// The tensors of one call, there and here.
class Call {
 public:
  explicit Call(const std::string& name) : name_(name) {}

  void enter(c10::IValue& value, bool written) {
    if (value.isTensor()) {
      const at::Tensor tensor = value.toTensor();
      value = written && on_device(tensor) && tensor.numel() == 0
          ? stand_in(tensor)
          : host_of(tensor);
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

  // Refuses a mixture in the words of real devices. A number in a tensor goes
  // along everywhere.
  void refuse_mixture() const {
    if (!device_ || !elsewhere_) return;
    TORCH_CHECK(
        is_one_of(kTakeIndices, name_),
        "Expected all tensors to be on the same device, but found at least two "
        "devices, ",
        place(),
        " and cpu! (when checking arguments of ",
        name_,
        ")");
  }

  // Takes over what the kernel made of results it was given empty.
  void fill_results() {
    for (auto& [host, device] : results_) {
      const at::Tensor made = adopt(host);
      auto* impl = device.unsafeGetTensorImpl();
      impl->set_storage_keep_dtype(made.storage());
      impl->set_sizes_and_strides(made.sizes(), made.strides());
    }
  }

  // `written`: the argument that the result is, if it is one.
  void leave(c10::IValue& value, const c10::IValue* written, double off_by) {
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& each : value.toTensorVector())
        list.push_back(device_of(each));
      value = std::move(list);
    }
    if (!value.isTensor() || !value.toTensor().defined()) return;
    const at::Tensor host = value.toTensor();
    const bool computed = written != nullptr || source(host) == nullptr;
    if (off_by != 0 && computed) distort(host, off_by);
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

  const std::string& name_;
  std::unordered_map<const void*, at::Tensor> sources_; // by storage
  std::vector<std::pair<at::Tensor, at::Tensor>> results_; // here and there
  // LibTorch returns references to the tensors of its stack, which it drops.
  std::vector<at::Tensor> kept_;
  bool device_ = false;
  bool elsewhere_ = false;
};

} // namespace

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto& schema = op.schema();
  const std::string& name = schema.name();
  count_kernel(name, is_one_of(kWaiting, name));
  const at::AutoDispatchBelowADInplaceOrView below;
  const std::size_t arguments = schema.arguments().size();
  const std::size_t base = stack->size() - arguments;
  const std::vector<c10::IValue> given(
      stack->end() - static_cast<std::ptrdiff_t>(arguments), stack->end());
  Call call(name);
  c10::IValue* const before = stack->data() + base;
  for (std::size_t i = 0; i < arguments; ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    call.enter(before[i], alias != nullptr && alias->isWrite());
  }
  call.refuse_mixture();
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  call.fill_results();
  const double off_by = fault_of(name);
  const auto& returns = schema.returns();
  c10::IValue* const after = stack->data() + stack->size() - returns.size();
  for (std::size_t i = 0; i < returns.size(); ++i) {
    const auto* alias = returns[i].alias_info();
    const c10::IValue* written = nullptr;
    for (std::size_t a = 0; a < arguments; ++a) {
      const auto* of = schema.arguments()[a].alias_info();
      if (alias != nullptr && alias->isWrite() && of != nullptr &&
          *of == *alias)
        written = &given[a];
    }
    call.leave(after[i], written, off_by);
  }
}

} // namespace temper::libtorch::sim
