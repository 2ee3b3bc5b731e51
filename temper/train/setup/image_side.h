// The facts about images that training must know before it reads them, and
// their source may not say: their size, and of a stream its classes and its
// length, too.
// Private to train/setup.
#pragma once

#include <string>

#include "temper/config/config.h"
#include "temper/data/sample/source.h"

namespace temper::train {

// The side that images are brought to: data.image_size, or where that is 0 and
// the augmentation has none of its own the side that a few samples have. 0: the
// source's own size, which `info` has afterwards. Error, naming two images,
// when their sizes differ.
int image_side(
    const config::Config& config,
    const data::IndexedSource& source,
    data::SourceInfo& info);

// The same for a stream, from samples of a copy of it that is started for that.
// One Error with everything that is missing: the size, the classes
// (`needs_classes`: the model takes their number from the data), and the length
// where the schedule depends on it.
int stream_image_side(
    const config::Config& config,
    const std::string& name,
    bool needs_classes,
    data::SourceInfo& info);

} // namespace temper::train
