// Decoded samples kept in memory, behind the face of the source they come
// from. Filled as they are read; what comes out is the same either way.
#pragma once

#include <cstdint>
#include <memory>

#include "temper/data/sample/source.h"

namespace temper::data {

// The bytes that all decoded samples take; 0 when that cannot be told in
// advance (sizes differ) or they are not images with labels.
std::uint64_t decoded_bytes(const IndexedSource& source);

// `source` with a cache, or `source` itself when all of it does not fit the
// budget.
std::shared_ptr<const IndexedSource> cached(
    std::shared_ptr<const IndexedSource> source,
    std::uint64_t budget_bytes);

} // namespace temper::data
