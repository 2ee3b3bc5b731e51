// The beginning of a stream, kept in memory so that it can be looked at like
// any other source: by `temper data check`, and by training to find out the
// size of the images.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "temper/data/sample/source.h"

namespace temper::data {

struct FirstSamplesOptions {
  std::int64_t most = 1000;
  std::uint64_t most_bytes = std::uint64_t{256} << 20; // of decoded samples
  std::uint64_t seed = 0;
  // Called with each sample; may throw to stop.
  std::function<void(std::int64_t done)> progress = {};
};

// Bad samples are among them and throw when they are read. There is a class for
// every label that came, by its number, where the stream names none. Rethrows
// what the stream throws other than BadSample.
std::shared_ptr<const IndexedSource> first_samples(
    StreamSource& stream,
    const FirstSamplesOptions& options);

} // namespace temper::data
