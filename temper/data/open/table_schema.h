// The schema of a table's cells, which says what a model sees: numbers and
// dates scaled by the training rows, missing ones filled with their mean,
// categories one-hot. Used by fit.h.
// Private to data/open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/source.h"
#include "temper/data/sample/unseen.h"
#include "temper/data/source/csv_table.h"

namespace temper::data {

// Columns, shape and target of a schema. `train` has the table's rows that
// train.
void learn_table(
    const IndexedSource& train,
    const CsvTable& table,
    const NumberOptions& options,
    Schema& schema);

// Rows of the table as the schema wants them. Labels stay those of the table.
std::shared_ptr<const IndexedSource> encoded_rows(
    std::shared_ptr<const IndexedSource> rows,
    std::shared_ptr<const CsvTable> table,
    const std::shared_ptr<const Schema>& schema);

// Categories that the schema lacks, by column, of these rows.
std::vector<std::pair<std::string, Unseen>> unseen_categories(
    const IndexedSource& rows,
    const CsvTable& table,
    const Schema& schema);

} // namespace temper::data
