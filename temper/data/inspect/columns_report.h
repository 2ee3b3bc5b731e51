// The columns of a table as `temper data check` shows them: what each is taken
// for, so that a wrong guess is seen before a run.
// Private to data/inspect.
#pragma once

#include <string>

#include "temper/data/sample/schema.h"

namespace temper::data {

// One line a column: name, type, range or categories, mean, missing values, all
// of at most `width` columns; then what is left out and the target. Empty when
// the schema has no columns.
std::string columns_text(const Schema& schema, int width);

} // namespace temper::data
