// A loader's batch as tensors on the model's device: one copy at most, bytes
// normalised there, and slices of it. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/data/loader/loader.h"
#include "temper/train/setup/run_data.h"
#include "temper/train/task/task.h"

namespace temper::train {

struct BatchTransfer {
  at::Device device = at::kCPU;
  bool channels_last = false; // how the loader lays images out
  bool images = true;
  bool model_channels_last = false; // what bytes become on the device
  // Bytes become (x / 255 - mean) / deviation on the device.
  std::vector<float> mean;
  std::vector<float> deviation;
  std::vector<std::int64_t> target_shape; // of one target; empty: a label
};

// The transfer of batches of this data in this layout to that device.
BatchTransfer plan_batches(
    const std::string& device,
    const InputFormat& layout,
    const RunData& data);

// The loader's memory as tensors on the CPU, bytes as they are: valid as long
// as `batch`.
TensorBatch on_host(const data::HostBatch& batch, const BatchTransfer& plan);

// The one way of batches to the device: one copy of inputs and of targets each,
// none on the CPU. Bytes are normalised where they arrive.
class BatchMover {
 public:
  // Floating-point inputs and targets become numbers of that type.
  explicit BatchMover(
      const BatchTransfer& plan,
      at::ScalarType type = at::kFloat);
  TensorBatch moved(const TensorBatch& host) const;

 private:
  at::Device device_;
  bool images_;
  bool channels_last_;
  at::ScalarType type_;
  at::Tensor mean_; // undefined: none to take away
  at::Tensor deviation_;
};

// Samples begin .. begin + count.
TensorBatch
slice(const TensorBatch& batch, std::int64_t begin, std::int64_t count);

// The mixing of a batch with mixup or cutmix: inputs and soft targets of its
// own on the CPU, drawn from (seed, epoch, number of the batch).
struct BatchMix {
  double mixup = 0;
  double cutmix = 0;
  double label_smoothing = 0;
  int classes = 0;
  std::uint64_t seed = 0;
};
TensorBatch mixed(
    const data::HostBatch& batch,
    const BatchTransfer& plan,
    const BatchMix& mix,
    std::uint32_t epoch);

// Error, naming the sample, when a label is none of the model's classes.
void check_labels(const data::HostBatch& batch, std::int64_t classes);

// Indices of the batch's samples; none where the loader does not tell them.
std::vector<std::int64_t> indices_of(const data::HostBatch& batch);

} // namespace temper::train
