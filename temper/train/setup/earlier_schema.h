// The schema that the weights of a run were trained with. Whoever trains on
// from them has to put the same columns, classes and characters into the same
// places, in whatever order its own files have them. No torch.
#pragma once

#include <memory>
#include <string>

#include "temper/config/config.h"
#include "temper/data/sample/schema.h"

namespace temper::train {

struct EarlierSchema {
  std::shared_ptr<const data::Schema> schema; // null: there is none
  std::string of; // the run or file that it comes from
};

// The schema of model.weights, or of a model that temper exported. Null too
// where it cannot be read: then the weights are all that is known.
EarlierSchema earlier_schema(const config::Model& model);

// Whether data with the schema `now` can be read as `earlier` says and loses
// nothing by it: the same columns, classes and target, in any order.
bool reads_as(const data::Schema& now, const data::Schema& earlier);

// A note for data that cannot: which columns or classes the weights know by
// another name. Empty: shapes tell it, or there is nothing to tell.
std::string other_meaning(
    const data::Schema& now,
    const EarlierSchema& earlier);

} // namespace temper::train
