// Batches from a StreamSource, which only knows "next": one thread reads,
// augments and places; batches, memory and policies are those of Loader.
// Nothing is shuffled. BadPolicy::replace takes the stream's next sample.
//
// A resume is exact. It is immediate where the source can save() and load();
// otherwise what was consumed is read again and dropped, which is said.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "temper/data/loader/loader.h"

namespace temper::data {

struct StreamState {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t samples_consumed = 0; // of the epoch, bad ones included
  std::uint64_t pipeline_hash = 0;
  std::optional<std::string> source; // what StreamSource::save() gave

  std::string to_json() const;
  static StreamState from_json(const std::string& text); // Error if malformed
};

// A loader for one consumer: everything is called from one thread.
class StreamLoader {
 public:
  // Error when the source does not say how large its images are and the
  // augmentation does not set it, or the ring does not fit the budget.
  StreamLoader(
      std::unique_ptr<StreamSource> source,
      // Null when samples stay as the source gives them.
      const std::shared_ptr<const Augment>& augment,
      const LoaderOptions& options);
  ~StreamLoader();
  StreamLoader(const StreamLoader&) = delete;
  StreamLoader& operator=(const StreamLoader&) = delete;

  // These do what Loader's do. HostBatch::indices count the samples of the
  // epoch.
  void start(std::uint32_t epoch);
  bool ready(double seconds);
  const HostBatch* next();
  StreamState state() const;
  void resume(const StreamState& state);
  LoaderStats stats() const;
  std::string in_hand() const; // from any thread, as Loader's

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

} // namespace temper::data
