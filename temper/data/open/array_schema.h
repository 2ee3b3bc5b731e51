// The schema of arrays of numbers, which says what a model sees: images of
// floats as C x H x W, inputs and numbers to predict scaled by the training
// part where they are far from a mean of 0 and a deviation of 1. Used by fit.h.
// Private to data/open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// The rule for inputs and the scale of targets, from `train` as it is read. A
// few thousand samples, spread over all, tell the statistics.
void learn_array(
    const IndexedSource& train,
    const NumberOptions& options,
    Schema& schema,
    std::vector<std::string>& notes);

// The source as the schema's rules have it; itself when there is none.
std::shared_ptr<const IndexedSource> shaped_array(
    std::shared_ptr<const IndexedSource> source,
    const Schema& schema);

} // namespace temper::data
