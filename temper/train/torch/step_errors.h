// The message for a person when a step fails: a tensor on the wrong device or
// of the wrong type by its name, with the way out. Includes torch: see task.h.
// Private to train/torch.
#pragma once

#include "temper/train/task/task.h"

namespace temper::train {

struct StepContext {
  const char* step; // "train_step"
  Task& task;
  const TensorBatch& batch; // as the step was given it
  std::int64_t whole; // samples of the batch it is a slice of
  at::Device device;
};

// Called in a catch block around a step: throws on what was caught. LibTorch's
// words become an Error that names the tensor; lack of memory and everything
// that is not LibTorch's keeps its type.
[[noreturn]] void rethrow_of_step(const StepContext& context);

// Called in a catch block around a whole step that left no trace: lack of
// memory, in whatever words, becomes OutOfMemory; everything else goes on as it
// is.
[[noreturn]] void rethrow_of_memory(std::int64_t samples);

// Error unless it is one number, on the device, of a type it can have, with a
// gradient where one is needed.
void check_loss(
    const at::Tensor& loss,
    bool needs_gradient,
    const StepContext& context);

} // namespace temper::train
