#include "temper/train/optimizer/buffer_backup.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "temper/base/text.h"
#include "temper/graph/op/effects.h"
#include "temper/train/optimizer/retry_update.h"

namespace temper::train {
namespace {

constexpr const char* kChanged = "got another size, type or place";
constexpr const char* kKeepForm =
    "Resume the run from its last checkpoint, and let the model's forward() "
    "keep the form of its buffers.";

std::vector<at::Tensor> changing(const model::Module& model) {
  const std::vector<model::NamedTensor> all = model.buffers();
  const graph::Graph* graph = model.graph();
  // Fewer tensors than names: some share one, and all are taken.
  const bool known = graph != nullptr &&
      graph->inputs_of(graph::InputKind::kBuffer).size() == all.size();
  const auto written =
      known ? graph::buffers_written(*graph) : std::set<std::string>{};
  std::vector<at::Tensor> found;
  for (const model::NamedTensor& each : all)
    if (!known || written.count(each.name) > 0)
      found.push_back(each.tensor.detach());
  return found;
}

// Copies the memory itself: for a few channels LibTorch's calls would take
// longer than the copy.
bool is_memory(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.is_contiguous();
}

template <class Copy>
void each_part(
    const std::vector<at::Tensor>& buffers,
    const at::Tensor& values,
    const Copy& copy) {
  std::int64_t begin = 0;
  for (const at::Tensor& buffer : buffers) {
    copy(buffer, values, begin);
    begin += buffer.numel();
  }
}

char* at_number(const at::Tensor& values, std::int64_t i) {
  return static_cast<char*>(values.data_ptr()) +
      i * static_cast<std::int64_t>(values.element_size());
}

} // namespace

BufferBackup::BufferBackup(const model::Module& model)
    : model_(model), kept_(found()) {}

std::vector<BufferBackup::Kept> BufferBackup::found() const {
  std::map<at::ScalarType, std::vector<at::Tensor>> by_type;
  for (const at::Tensor& buffer : changing(model_))
    by_type[buffer.scalar_type()].push_back(buffer);
  std::vector<Kept> found;
  for (auto& [type, buffers] : by_type)
    found.push_back({std::move(buffers), {}});
  return found;
}

bool BufferBackup::find_again() {
  std::vector<Kept> now = found();
  if (!std::equal(
          now.begin(), now.end(), kept_.begin(), kept_.end(), are_alike))
    return false;
  for (std::size_t i = 0; i < now.size(); ++i)
    kept_[i].buffers = std::move(now[i].buffers);
  return true;
}

bool BufferBackup::are_alike(const Kept& a, const Kept& b) {
  return std::equal(
      a.buffers.begin(),
      a.buffers.end(),
      b.buffers.begin(),
      b.buffers.end(),
      [](const at::Tensor& one, const at::Tensor& other) {
        return one.scalar_type() == other.scalar_type() &&
            one.device() == other.device() && one.sizes() == other.sizes();
      });
}

void BufferBackup::begin(const at::Tensor& finite_so_far) {
  const at::NoGradGuard no_grad;
  if (model_.graph() == nullptr && !find_again()) {
    if (finite_so_far.defined())
      throw Error(
          cat("[train] a buffer of the model ", kChanged, " in a step."),
          kKeepForm);
    kept_ = found();
  }
  for (Kept& kept : kept_) {
    const auto& buffers = kept.buffers;
    const bool plain = std::all_of(buffers.begin(), buffers.end(), is_memory);
    if (plain && kept.values.defined()) {
      each_part(
          buffers,
          kept.values,
          [](const auto& buffer, const auto& values, auto begin) {
            std::memcpy(
                at_number(values, begin), buffer.data_ptr(), buffer.nbytes());
          });
      continue;
    }
    std::vector<at::Tensor> flat;
    for (const at::Tensor& buffer : buffers)
      flat.push_back(buffer.reshape({-1}));
    const at::Tensor now = at::cat(flat);
    kept.values = finite_so_far.defined() && kept.values.defined()
        ? at::where(finite_so_far, now, kept.values)
        : now;
  }
}

void BufferBackup::back() {
  const at::NoGradGuard no_grad;
  if (model_.graph() == nullptr && !find_again())
    throw HalfDone(
        cat("[train] a step failed, and a buffer of the model that ",
            kChanged,
            " in it cannot be put back."),
        kKeepForm);
  for (const Kept& kept : kept_) {
    if (!kept.values.defined()) continue;
    each_part(
        kept.buffers,
        kept.values,
        [](const auto& buffer, const auto& values, auto begin) {
          if (is_memory(buffer))
            std::memcpy(
                buffer.data_ptr(), at_number(values, begin), buffer.nbytes());
          else
            buffer.copy_(
                values.narrow(0, begin, buffer.numel()).view(buffer.sizes()));
        });
  }
}

std::size_t BufferBackup::tensors() const {
  std::size_t count = 0;
  for (const Kept& kept : kept_)
    count += kept.buffers.size();
  return count;
}

} // namespace temper::train
