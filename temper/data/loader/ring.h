// The ring of batches between those who fill them and the one who takes them.
//
// Positions count the samples of an epoch; `batch` of them in a row make a
// batch, and each has its slot there. Producers may write to the slots of
// `depth` batches from the oldest one that the consumer still holds; those of
// later ones wait. A batch is ready when as many samples are done as it has
// slots, whoever did them and in whichever order. Buffers go from the batch
// just given back to the one that opens: none is allocated while it runs,
// unless the depth grows. Producers that wait for room are woken when half of
// the ring is free, or when the consumer would have to wait: waking a thread
// costs as much as a small batch.
// Private to data/loader.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/large_memory.h"
#include "temper/data/loader/sample_layout.h"

namespace temper::data {

// The memory of one batch.
class BatchBuffer {
 public:
  BatchBuffer(const SampleLayout& layout, int batch);

  void* input(int slot) {
    return memory_.get() + static_cast<std::size_t>(slot) * input_bytes_;
  }
  void* target(int slot) {
    return memory_.get() + targets_offset_ +
        static_cast<std::size_t>(slot) * target_bytes_;
  }
  std::int64_t& index(int slot) {
    return indices_[static_cast<std::size_t>(slot)];
  }
  // Closes the gaps of the slots (ascending) that hold no sample.
  void remove(const std::vector<int>& slots, int size);

 private:
  void move(int from, int to, int count);

  std::size_t input_bytes_;
  std::size_t target_bytes_;
  std::size_t targets_offset_;
  LargeMemory memory_;
  std::vector<std::int64_t> indices_;
};

struct BadSlot {
  int slot = 0;
  std::string reason;
};

// One batch on its way. Producers write to different slots of the buffer at
// once; the rest is theirs through the ring only.
struct RingBatch {
  std::int64_t begin = 0; // its first position
  int size = 0;
  std::unique_ptr<BatchBuffer> buffer;
  std::atomic<int> missing{0};
  std::vector<BadSlot> bad;
  // The failure at the lowest position: which one does not depend on timing,
  // since every sample of the batch is tried before it is handed out.
  std::int64_t failed_position = 0;
  std::exception_ptr failure;
  // The note that the producer of a stream attached: where the stream was after
  // it.
  std::int64_t items = 0;
  std::optional<std::string> mark;
};

class Ring {
 public:
  static constexpr int kMostDepth = 64;

  Ring(SampleLayout layout, int batch, int depth);

  // Consumer. Between stop() and restart() no producer may be inside.
  void restart(std::int64_t begin, std::int64_t end);
  // Waits for the next batch, or its absence at the end, for at most so long;
  // true: take() comes back at once.
  bool ready(double seconds);
  // Waits for the next batch; null at the end. It stays until give_back().
  RingBatch* take();
  void give_back();
  void set_depth(int depth);
  // Producers leave; every enter() is refused until restart().
  void stop();
  bool stopped() const {
    return stopped_.load(std::memory_order_relaxed);
  }

  // Producers. The batch of a position, once there is room for it; null when
  // stopped. `waited_s` grows by what it took.
  RingBatch* enter(std::int64_t position, double& waited_s);
  void done(RingBatch& batch, int samples);
  void bad(RingBatch& batch, std::int64_t position, std::string reason);
  void
  fail(RingBatch& batch, std::int64_t position, std::exception_ptr failure);
  void
  mark(RingBatch& batch, std::int64_t items, std::optional<std::string> text);
  // The epoch turned out to end here. `keep_part`: the unfilled last batch
  // counts.
  void finish(std::int64_t end, bool keep_part);

 private:
  RingBatch& of(std::int64_t number) {
    return batches_[static_cast<std::size_t>(number % kMostDepth)];
  }
  std::int64_t begin_of(std::int64_t number) const {
    return begin_ + number * batch_;
  }
  // With the lock held, all of these.
  void open_batches();
  void wake_producers();
  void wake_before_waiting(); // the consumer
  bool over() const;
  bool has_next();

  const SampleLayout layout_;
  const int batch_;
  std::vector<RingBatch> batches_; // kMostDepth of them, by number

  mutable std::mutex mutex_;
  std::condition_variable room_; // producers wait for it
  std::condition_variable ready_; // the consumer waits for it
  int depth_;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::int64_t given_back_ = 0; // batches; also the number of the oldest
  std::int64_t taken_ = 0;
  std::int64_t opened_ = 0;
  std::int64_t woken_ = 0; // opened when producers were last woken
  std::vector<std::unique_ptr<BatchBuffer>> spare_;
  // Positions below it may be written; changes with the lock held.
  std::atomic<std::int64_t> limit_{0};
  std::atomic<bool> stopped_{true};
};

} // namespace temper::data
