// The loader's parts put together: workers that run sample tasks into the
// ring, and the consumer's side of it.
// Private to data/loader.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "temper/data/loader/batch_reader.h"
#include "temper/data/loader/loader.h"
#include "temper/data/loader/ring.h"
#include "temper/data/loader/sample_task.h"
#include "temper/data/loader/worker_pool.h"
#include "temper/data/tune/loader_tuner.h"
#include "temper/data/tune/tuning_memory.h"

namespace temper::data {

class Loader::Body {
 public:
  Body(
      std::shared_ptr<const IndexedSource> source,
      std::shared_ptr<const Augment> augment,
      LoaderOptions options);
  ~Body();

  void start(std::uint32_t epoch, std::int64_t consumed);
  bool ready(double seconds);
  const HostBatch* next();
  std::int64_t batches_per_epoch() const;
  LoaderState state() const;
  void resume(const LoaderState& state);
  LoaderStats stats() const;
  std::string in_hand() const;
  const SampleLayout& layout() const {
    return layout_;
  }

 private:
  void halt();
  double work(int worker, std::int64_t begin, std::int64_t end);
  void pace(int samples);
  void end_epoch();
  const HostBatch* hand_out(RingBatch& batch, int size);
  void measure_from(Tuning tuning);
  void recall_tuning();
  void change_tuning(Tuning tuning); // ends the tuning where it fails
  void apply(Tuning tuning);

  std::shared_ptr<const IndexedSource> source_;
  std::shared_ptr<const Augment> augment_;
  LoaderOptions options_;
  std::int64_t size_;
  SampleLayout layout_;
  int batch_; // samples in a full one
  Tuning tuning_;
  TuneLimits limits_;
  std::optional<LoaderTuner> pace_; // no value: all is fixed
  std::optional<TuningKey> tuning_key_; // no value: nothing is remembered
  std::unique_ptr<SampleTask> task_;
  std::unique_ptr<Ring> ring_;
  std::vector<Scratch> scratch_; // each its worker's own
  std::unique_ptr<WorkerPool> pool_; // last: ends before what it uses

  // The state of the epoch under way.
  bool started_ = false;
  bool running_ = false;
  std::exception_ptr failure_;
  std::uint64_t seed_;
  std::uint32_t epoch_ = 0;
  std::int64_t consumed_ = 0;
  std::int64_t handed_out_ = 0;
  BadTally bad_;
  BatchReader taker_;

  HostBatch batch_out_;
  std::int64_t samples_ = 0; // in all epochs
};

} // namespace temper::data
