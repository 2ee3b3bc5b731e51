// The first samples of a source, for a quick try: data.limit.
#pragma once

#include <cstdint>
#include <memory>

#include "temper/data/sample/source.h"

namespace temper::data {

// `source` itself when it has no more than `most` samples, or most is 0.
std::shared_ptr<const IndexedSource> limited(
    std::shared_ptr<const IndexedSource> source,
    std::int64_t most);

} // namespace temper::data
