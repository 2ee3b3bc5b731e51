// The engine, which computes: a model, a loss, an optimiser and their state on
// one device. The loop drives it and needs no torch; LibTorch's engine is in
// torch_engine.cpp, the loop's tests have one of their own. One thread calls.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "temper/data/loader/loader.h"
#include "temper/graph/ir/weights.h"
#include "temper/train/metrics/metrics.h"
#include "temper/train/watch/heartbeat.h"

namespace temper::train {

// A loss or gradient that is NaN or infinite, or a loss above the order's
// limit. That update and those after it left no trace (see Engine::step). On
// the CPU it is thrown by the step itself. On another device looking would make
// every step wait: there it is thrown when numbers are read next, by a step
// ordered to report, take_training_sums(), evaluate() or capture(), and none of
// the updates since was committed.
class NotFinite : public Error {
 public:
  using Error::Error;

  std::int64_t update = -1; // committed before it; negative: the step's own
  std::vector<std::int64_t> samples; // of its batch, by index
};

// Memory ran out in a step or in an evaluation, which left no trace: the same
// samples may be computed again, fewer at once.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

// An update failed for good after a part of it had happened: the state is
// neither the old nor the new one, and must not be saved.
class HalfDone : public Error {
 public:
  using Error::Error;
};

struct EngineFacts {
  std::string model; // "resnet18", "net.pt2"
  std::string task; // "classification"
  std::string loss; // "cross_entropy"
  std::string optimizer; // "sgd"
  std::string device; // "cpu", "mps"
  std::int64_t parameters = 0;
  std::int64_t trainable = 0;
  std::uint64_t state_bytes = 0; // of one copy that capture() makes
  std::int64_t batch_norms = 0; // layers whose result depends on the split
  bool needs_whole_batch = false; // the loss: a batch is never split
  // The loss and the metrics have the same bits whatever the threads.
  bool loss_for_any_threads = false;
  bool reads_late = false; // NotFinite may be thrown by a later call
};

struct StepOrder {
  std::uint32_t epoch = 0;
  std::int64_t update = 0; // committed before this one
  double lr = 0;
  int micro_batch = 0; // 0: the whole batch at once
  // The loss, the gradient's norm and the sums will be read after this step.
  bool report = false;
  Heartbeat* heartbeat = nullptr; // told what the step is at; null: nobody
  // A loss above it counts as not finite.
  double loss_limit = std::numeric_limits<double>::infinity();
};

struct StepReport {
  double loss = 0; // of the last step
  double grad_norm = 0; // before clipping
};

// All that a run must remember to go on bit for bit: parameters and buffers as
// "model.<name>", the optimiser's as "optimizer.<what>.<name>", averaged
// weights as "ema.<name>". Whatever else a checkpoint has is not the engine's.
struct EngineState {
  graph::Weights tensors;
  // The sums that steps have added up and nobody has taken yet.
  MetricSums training_sums = {};
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual EngineFacts facts() const = 0;

  // One update from one batch: all its micro-batches, then the optimiser. The
  // gradient is that of the whole batch, however it was split. A transaction:
  // when it throws (NotFinite, OutOfMemory, Error for labels out of range,
  // shapes that do not fit, ...) parameters, the optimiser's state, buffers,
  // averaged weights, loss scale and sums are as before, bit for bit. False:
  // the gradient overflowed fp16, and nothing has changed but the loss scale,
  // which is lower now.
  virtual bool step(const data::HostBatch& batch, const StepOrder& order) = 0;
  // The report of the last step, which was ordered to report.
  virtual StepReport report() = 0;
  // The sums added up by steps since the last call. Waits for the device.
  virtual MetricSums take_training_sums() = 0;
  // Those sums so far, which stay to be taken; empty: they cannot be looked at
  // without waiting.
  virtual MetricSums training_sums() const {
    return {};
  }
  // The last step's gradients, by the parameters' names: settings are compared
  // by them.
  virtual graph::Weights gradients() {
    return {};
  }

  // Validation, in eval mode, with the averaged weights where there are some.
  // When it throws, the sums are as before.
  virtual void evaluate(const data::HostBatch& batch) = 0;
  // From now on evaluate() computes so many samples at once; 0: all of them.
  // Losses that couple samples are not split.
  virtual void set_evaluation_slice(int samples) {
    static_cast<void>(samples);
  }
  virtual MetricSums take_evaluation_sums() = 0;

  virtual EngineState capture() = 0;
  // Error when names, types or shapes are others than the engine's own.
  virtual void restore(const EngineState& state) = 0;
  // The trained weights by their plain names, averaged ones where there are.
  virtual graph::Weights weights() = 0;

  // Bytes of tensors now and at most so far; 0 where it cannot be told.
  virtual std::uint64_t memory_bytes() const {
    return 0;
  }
};

} // namespace temper::train
