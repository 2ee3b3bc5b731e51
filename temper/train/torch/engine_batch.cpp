#include "temper/train/torch/engine_batch.h"

#include <ATen/ATen.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/transform/mix.h"
#include "temper/libtorch/torch/device_name.h"

namespace temper::train {
namespace {

at::ScalarType type_of(data::Element element) {
  switch (element) {
    case data::Element::u8:
      return at::kByte;
    case data::Element::f32:
      return at::kFloat;
    case data::Element::i64:
      return at::kLong;
  }
  throw Bug("an element outside the table");
}

// The loader's memory as a tensor. LibTorch takes no const pointer; nothing
// writes to inputs that are no parameters.
at::Tensor view(
    const void* memory,
    const std::vector<std::int64_t>& sizes,
    at::ScalarType type) {
  return at::from_blob(
      const_cast<void*>(memory), sizes, at::TensorOptions().dtype(type));
}

// N x C x H x W whatever the memory's order: strides say the rest.
at::Tensor as_images(const at::Tensor& inputs, const BatchTransfer& plan) {
  return plan.images && plan.channels_last ? inputs.permute({0, 3, 1, 2})
                                           : inputs;
}

at::Tensor inputs_of(const data::HostBatch& batch, const BatchTransfer& plan) {
  std::vector<std::int64_t> sizes{batch.size};
  sizes.insert(sizes.end(), batch.shape.begin(), batch.shape.end());
  return as_images(view(batch.inputs, sizes, type_of(batch.element)), plan);
}

at::Tensor targets_of(const data::HostBatch& batch, const BatchTransfer& plan) {
  std::vector<std::int64_t> sizes{batch.size};
  sizes.insert(sizes.end(), plan.target_shape.begin(), plan.target_shape.end());
  if (batch.labels != nullptr) return view(batch.labels, sizes, at::kLong);
  if (batch.target_numbers != nullptr)
    return view(batch.target_numbers, sizes, at::kFloat);
  return {};
}

} // namespace

BatchTransfer plan_batches(
    const std::string& device,
    const InputFormat& layout,
    const RunData& data) {
  BatchTransfer plan;
  plan.device = libtorch::device_of(device);
  plan.channels_last = layout.channels_last;
  plan.images = data.info.input == data::Input::image;
  if (data.augment != nullptr) {
    plan.mean = data.augment->mean;
    plan.deviation = data.augment->deviation;
  }
  if (data.info.target != data::Target::label)
    plan.target_shape = {data.info.target_size};
  return plan;
}

TensorBatch on_host(const data::HostBatch& batch, const BatchTransfer& plan) {
  TensorBatch made;
  made.samples = batch.size;
  made.inputs = inputs_of(batch, plan);
  made.targets = targets_of(batch, plan);
  return made;
}

BatchMover::BatchMover(const BatchTransfer& plan, at::ScalarType type)
    : device_(plan.device),
      images_(plan.images),
      channels_last_(plan.model_channels_last),
      type_(type) {
  if (!plan.images || plan.mean.empty()) return;
  const auto channels = [&](const std::vector<float>& values) {
    return at::tensor(values).view({1, -1, 1, 1}).to(device_);
  };
  mean_ = channels(plan.mean);
  deviation_ = channels(plan.deviation);
}

TensorBatch BatchMover::moved(const TensorBatch& host) const {
  TensorBatch made = host;
  for (at::Tensor* each : {&made.inputs, &made.targets, &made.soft_targets})
    if (each->defined()) *each = each->to(device_);
  if (images_ && made.inputs.scalar_type() == at::kByte) {
    // Bytes come with the channels last, whatever the model computes with.
    made.inputs = made.inputs
                      .to(at::kFloat,
                          false,
                          false,
                          channels_last_ ? at::MemoryFormat::ChannelsLast
                                         : at::MemoryFormat::Contiguous)
                      .div_(255);
    if (mean_.defined()) made.inputs.sub_(mean_).div_(deviation_);
  }
  if (type_ == at::kFloat) return made;
  for (at::Tensor* each : {&made.inputs, &made.targets, &made.soft_targets})
    if (each->defined() && each->is_floating_point()) *each = each->to(type_);
  return made;
}

TensorBatch
slice(const TensorBatch& batch, std::int64_t begin, std::int64_t count) {
  const auto part = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.narrow(0, begin, count) : tensor;
  };
  return {
      part(batch.inputs), part(batch.targets), part(batch.soft_targets), count};
}

TensorBatch mixed(
    const data::HostBatch& batch,
    const BatchTransfer& plan,
    const BatchMix& mix,
    std::uint32_t epoch) {
  check(
      batch.element == data::Element::f32 && batch.labels != nullptr &&
          batch.shape.size() == 3,
      "only labelled images of floats are mixed");
  std::vector<std::int64_t> sizes{batch.size};
  sizes.insert(sizes.end(), batch.shape.begin(), batch.shape.end());
  at::Tensor inputs = view(batch.inputs, sizes, at::kFloat).clone();
  at::Tensor soft = at::empty({batch.size, mix.classes});
  data::one_hot(
      batch.labels,
      batch.size,
      mix.classes,
      static_cast<float>(mix.label_smoothing),
      soft.data_ptr<float>());
  data::MixBatch both;
  both.inputs = inputs.data_ptr<float>();
  both.targets = soft.data_ptr<float>();
  both.samples = batch.size;
  both.channels_last = plan.channels_last;
  const int first = plan.channels_last ? 0 : 1;
  both.height = static_cast<int>(batch.shape[first]);
  both.width = static_cast<int>(batch.shape[first + 1]);
  both.channels = static_cast<int>(batch.shape[plan.channels_last ? 2 : 0]);
  both.classes = mix.classes;
  data::mix(
      both,
      {mix.mixup, mix.cutmix},
      data::batch_stream(mix.seed, epoch, batch.number));
  TensorBatch made;
  made.samples = batch.size;
  made.inputs = as_images(inputs, plan);
  made.targets = targets_of(batch, plan);
  made.soft_targets = soft;
  return made;
}

void check_labels(const data::HostBatch& batch, std::int64_t classes) {
  if (batch.labels == nullptr) return;
  for (int i = 0; i < batch.size; ++i) {
    const std::int64_t label = batch.labels[i];
    if (label >= 0 && label < classes) continue;
    throw Error(
        cat("[train] sample ",
            batch.indices == nullptr ? i : batch.indices[i],
            " has the label ",
            label,
            ", and the model has ",
            plural(classes, "output"),
            ": 0 to ",
            classes - 1,
            "."),
        "Set model.classes, give the model a new head with model.head = "
        "\"new\", or look at the data with temper data check.");
  }
}

std::vector<std::int64_t> indices_of(const data::HostBatch& batch) {
  if (batch.indices == nullptr) return {};
  return {batch.indices, batch.indices + batch.size};
}

} // namespace temper::train
