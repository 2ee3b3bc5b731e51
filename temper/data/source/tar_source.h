// WebDataset shards: `tar:data-{000..009}.tar`. Members next to each other
// whose path is the same up to the first dot of the name are one sample: an
// image, and its class in .cls, .json or .txt. The tar is not unpacked.
#pragma once

#include <string>

#include "temper/data/sample/open_options.h"
#include "temper/data/source/shard_source.h"

namespace temper::data {

const ShardFormat& tar_format();

Splits open_tar(const std::string& pattern, const OpenOptions& options);

} // namespace temper::data
