// Batches of one part of the data, whichever loader makes them: Loader for
// indexed sources, StreamLoader for generators. The loop sees no difference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "temper/data/loader/loader.h"
#include "temper/data/loader/stream_loader.h"

namespace temper::train {

class Batches {
 public:
  virtual ~Batches() = default;
  virtual void start(std::uint32_t epoch) = 0;
  // Waits for the next batch for at most so long, and lets go of the last one;
  // true: next() comes back soon. So whoever waits can look around.
  virtual bool ready(double /*seconds*/) {
    return true;
  }
  virtual const data::HostBatch* next() = 0;
  // The length of an epoch; no value for a generator: it ends when it ends.
  virtual std::optional<std::int64_t> batches_per_epoch() const = 0;
  virtual std::optional<std::int64_t> samples() const = 0;
  // JSON, to go on from exactly.
  virtual std::string state() const = 0;
  virtual void resume(const std::string& state) = 0;
  virtual data::LoaderStats stats() const = 0;
  // A sample of a batch by its index, for messages: "photos/cat/12.jpg".
  virtual std::string describe(std::int64_t index) const;
  // The samples being read now, for a person; asked from another thread when
  // next() does not come back. Empty: not known.
  virtual std::string in_hand() const {
    return "";
  }
};

std::unique_ptr<Batches> indexed_batches(
    std::shared_ptr<const data::IndexedSource> source,
    std::shared_ptr<const data::Augment> augment,
    const data::LoaderOptions& options);

std::unique_ptr<Batches> stream_batches(
    std::unique_ptr<data::StreamSource> source,
    const std::shared_ptr<const data::Augment>& augment,
    const data::LoaderOptions& options);

} // namespace temper::train
