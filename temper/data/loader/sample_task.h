// One sample's whole way, as one task: order, read, decode, augment, place, and
// what happens when it is bad. Run by the loader's workers, all at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "temper/data/loader/order.h"
#include "temper/data/loader/ring.h"
#include "temper/data/loader/sample_writer.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// A worker's own buffers.
struct Scratch {
  Sample sample;
  Image spare;
  // The sample it works on; -1: none. Read by others when nothing moves.
  std::atomic<std::int64_t> in_hand{-1};
};

// The message about a bad sample, with its number and name.
std::string
describe_bad(const std::string& name, std::int64_t index, const BadSample& bad);
// The advice when a bad sample ends the run.
std::string bad_hint(const BadSample& bad);

class SampleTask {
 public:
  // Other samples tried in place of a bad one.
  static constexpr int kSubstitutes = 16;

  SampleTask(
      std::shared_ptr<const IndexedSource> source,
      std::shared_ptr<const SampleWriter> finish,
      BadPolicy bad);

  // Changes the epoch; nobody may be in run().
  void begin(const Order& order, std::uint64_t seed, std::uint32_t epoch);

  // Fills the slot of `position`, or tells the ring why not. Never throws.
  void run(
      std::int64_t position,
      Ring& ring,
      RingBatch& batch,
      Scratch& scratch) noexcept;

  std::int64_t warnings() const {
    return warnings_;
  }

 private:
  void read(std::int64_t index, RingBatch& batch, int slot, Scratch& scratch);
  void replace(
      std::int64_t position,
      Ring& ring,
      RingBatch& batch,
      Scratch& scratch,
      const std::string& reason);

  std::shared_ptr<const IndexedSource> source_;
  std::shared_ptr<const SampleWriter> finish_;
  BadPolicy bad_;
  Order order_;
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  std::atomic<std::int64_t> warnings_{0};
};

} // namespace temper::data
