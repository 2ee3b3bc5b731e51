// The one thread behind a StreamLoader: reads the stream into the ring.
// Private to data/loader.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "temper/data/loader/ring.h"
#include "temper/data/loader/sample_task.h"
#include "temper/data/loader/sample_writer.h"
#include "temper/data/loader/stream_loader.h"

namespace temper::data {

class StreamProducer {
 public:
  StreamProducer(
      std::unique_ptr<StreamSource> source,
      SampleWriter finish,
      BadPolicy bad,
      bool drop_last,
      Ring& ring);
  ~StreamProducer();

  // Begins where `from` is, abandoning what is under way.
  void start(const StreamState& from);
  void stop();

  std::int64_t warnings() const {
    return warnings_;
  }
  const SourceInfo& info() const {
    return source_->info();
  }
  double busy_s() const {
    return busy_s_;
  }
  // Items read from the stream in this epoch; from any thread.
  std::int64_t items_read() const {
    return items_;
  }

 private:
  enum class Read { sample, bad, end };

  void produce();
  void find_place();
  void fill(); // until the end, or until stopped
  bool fill_slot(RingBatch& batch, std::int64_t position);
  Read read(RingBatch& batch, int slot, std::string& reason);

  std::unique_ptr<StreamSource> source_;
  SampleWriter finish_;
  BadPolicy bad_;
  bool drop_last_;
  Ring& ring_;
  Scratch scratch_;
  StreamState from_;
  std::atomic<std::int64_t> items_{0}; // read from the stream in this epoch
  std::atomic<std::int64_t> warnings_{0};
  std::atomic<double> busy_s_{0};
  std::thread thread_;
};

} // namespace temper::data
