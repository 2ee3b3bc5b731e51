// Features that were computed once, as a source: the loaders shuffle, batch and
// resume it like any other. Stands in for the source they were made from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "temper/data/feature/feature_file.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// Numbers of this shape instead of what the source gives; all else as it was.
SourceInfo feature_info(
    const SourceInfo& source,
    const std::vector<std::int64_t>& shape);

// Bytes of one target of such a source in a file of features.
std::int64_t feature_target_bytes(const SourceInfo& source);

std::shared_ptr<const IndexedSource> feature_source(
    std::shared_ptr<const FeatureFile> file,
    std::shared_ptr<const IndexedSource> made_from,
    const std::vector<std::int64_t>& shape);

} // namespace temper::data
