// A loader's batch as tensors on the model's device: one copy at most, bytes
// normalised there, and slices of it. Includes torch: see task.h.
#pragma once

#include <vector>

#include "temper/config/config.h"
#include "temper/data/loader.h"
#include "temper/train/task.h"

namespace temper::train {

struct BatchPlan {
  at::Device device = at::kCPU;
  bool channels_last = false; // how the loader lays images out
  bool images = true;
  // Bytes become (x / 255 - mean) / deviation on the device.
  std::vector<float> mean;
  std::vector<float> deviation;
  std::vector<std::int64_t> target_shape; // of one target; empty: a label
};

// On the CPU the tensors lie in the loader's memory: valid as long as `batch`.
Batch to_device(const data::Batch& batch, const BatchPlan& plan);

// Samples begin .. begin + count.
Batch slice(const Batch& batch, std::int64_t begin, std::int64_t count);

// With mixup or cutmix: inputs and soft targets of its own, drawn from (seed,
// epoch, number of the batch).
struct MixPlan {
  double mixup = 0;
  double cutmix = 0;
  double label_smoothing = 0;
  int classes = 0;
  std::uint64_t seed = 0;
};
Batch mixed(
    const data::Batch& batch,
    const BatchPlan& plan,
    const MixPlan& mix,
    std::uint32_t epoch);

// Error, naming the sample, when a label is none of the model's classes.
void check_labels(const data::Batch& batch, std::int64_t classes);

} // namespace temper::train
