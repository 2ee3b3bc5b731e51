// The common ground of the simulated device's parts: its memory and counters
// (sim_memory.cpp), its tensors (sim_tensors.cpp), its operators
// (sim_operators.cpp) and their registration (sim.cpp).
// Private to libtorch/sim.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/core/Allocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Storage.h>

#include <string>

#include "temper/libtorch/sim/sim.h"

namespace c10 {
class OperatorHandle;
}
namespace torch {
class Library;
}

namespace temper::libtorch::sim {

Key key();
void set_key(Key key);
c10::DeviceType type();
c10::DispatchKey dispatch_key();
c10::Device place();
bool on_device(const at::Tensor& tensor);

// Charged to the budget, as all its memory is.
c10::Allocator& allocator();
// Memory of a CPU result, taken over without a copy.
c10::DataPtr adopt_memory(const c10::Storage& host);

void count_kernel(const std::string& op, bool waits);
void count_copy(bool from_device, bool to_device, std::uint64_t bytes);

// The part by which results of this operator shall be off; mostly 0.
double fault_of(const std::string& op);
// A single number may be float64: 1.13 makes one on its way back through a
// product with a number.
void check_type(at::ScalarType type, bool number);

// A CPU tensor over the bytes of a device tensor. It owns nothing: the device
// tensor outlives the call.
at::Tensor as_host(const at::Tensor& tensor);
// A tensor of the device with the shape of `like` in that storage.
at::Tensor device_tensor(c10::Storage storage, const at::Tensor& like);
// A CPU result becomes a device tensor without a copy.
at::Tensor adopt(const at::Tensor& host);

// Any operator: the CPU's kernel over the device's bytes.
void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack);

void register_tensors(torch::Library& aten);
// The current device, its one stream and its events, as LibTorch asks for them.
void register_guard();
void register_hooks();

} // namespace temper::libtorch::sim
