// One mechanism for every kind of source: the training part says what inputs
// and targets are (schema.h), and every part obeys. Used by open.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// Limits the parts, makes the schema from the training part unless the options
// have one, and fits both parts to it. Error when they do not go together.
Splits fitted(Splits raw, const OpenOptions& options);

// One source, all of which is validated or tested on: as open_other().
std::shared_ptr<const IndexedSource> fitted_other(
    const Splits& raw,
    const std::string& part,
    const OpenOptions& options,
    std::vector<std::string>& notes);

} // namespace temper::data
