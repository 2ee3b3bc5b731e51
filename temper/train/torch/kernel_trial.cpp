#include "temper/train/engine/kernel_trial.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <exception>

#include "temper/base/text.h"
#include "temper/graph/ir/dtype.h"
#include "temper/kernels/simd/scratch.h"
#include "temper/libtorch/facts.h"
#include "temper/memory/cpu_allocator.h"
#include "temper/model/fused/make_fused.h"
#include "temper/model/fused/torch_threads.h"

namespace temper::train {
namespace {

class TrialThreads {
 public:
  explicit TrialThreads(int count) : before_(at::get_num_threads()) {
    libtorch::set_threads_here(count);
    model::use_torch_threads();
  }
  ~TrialThreads() {
    libtorch::set_threads_here(before_);
  }
  TrialThreads(const TrialThreads&) = delete;
  TrialThreads& operator=(const TrialThreads&) = delete;

 private:
  int before_;
};

// All that a kernel's working memory depends on: layers that agree in it are
// run once.
std::string signature(const graph::Fusion& group, const KernelTrial& trial) {
  std::string text =
      cat(static_cast<int>(group.kind),
          " ",
          static_cast<int>(group.act),
          " ",
          static_cast<int>(group.last_act),
          " ",
          group.heads);
  for (const graph::FusedConvolution& each : group.convolutions)
    text += cat(" k", each.kernel[0], "s", each.stride[0], "g", each.groups);
  for (const std::string& input : group.inputs) {
    text += trial.constants.count(input) > 0 ? " c" : " ";
    if (input.empty()) continue;
    for (const std::int64_t size : trial.known.tensors.at(input).sizes)
      text += cat(size, "x");
  }
  return text;
}

at::Tensor zeros_of(const graph::Shape& shape) {
  const at::Tensor made = at::zeros(shape.sizes, at::kFloat);
  return shape.sizes.size() == 4
      ? made.contiguous(at::MemoryFormat::ChannelsLast)
      : made;
}

// False: no kernel takes the group as a whole.
bool run_group(const graph::Fusion& group, const KernelTrial& trial) {
  const model::OpPointer op = model::make_fused(group);
  if (op == nullptr) return false;
  model::FusedOp::Tensors inputs;
  std::vector<bool> wanted;
  for (const std::string& input : group.inputs) {
    inputs.push_back(
        input.empty() ? at::Tensor() : zeros_of(trial.known.tensors.at(input)));
    wanted.push_back(!input.empty() && trial.constants.count(input) == 0);
  }
  if (!op->takes(inputs)) return false;
  model::FusedOp::Tensors saved;
  const at::Tensor y = op->forward(inputs, &saved);
  op->backward(saved, at::zeros_like(y), wanted);
  return true;
}

void run_once(
    const graph::Fusion& group,
    const KernelTrial& trial,
    std::set<std::string>& done) {
  if (!done.insert(signature(group, trial)).second) return;
  if (run_group(group, trial)) return;
  for (const graph::Fusion& part : group.parts)
    run_once(part, trial, done);
}

} // namespace

std::uint64_t kernel_bytes(const KernelTrial& trial) {
  if (trial.groups.empty()) return 0;
  memory::install_cpu_allocator();
  const at::NoGradGuard no_grad;
  const TrialThreads threads(trial.threads);
  std::set<std::string> done;
  try {
    for (const graph::Fusion& group : trial.groups)
      run_once(group, trial, done);
  } catch (const std::exception&) {
    return 0; // the run itself will say what is wrong
  }
  return kernels::scratch_bytes_with(trial.threads);
}

} // namespace temper::train
