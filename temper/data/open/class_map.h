// Labels by the names of their classes: a source numbers its own classes, and
// a model has those of its training part. Used by fit.h.
// Private to data/open.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"
#include "temper/data/sample/unseen.h"

namespace temper::data {

struct ClassMap {
  // The source with the labels and classes of the schema, without the samples
  // of other classes; the source itself when its classes are those.
  std::shared_ptr<const IndexedSource> source;
  Unseen unseen; // classes, with the number of samples
  bool by_number = false; // names and mere numbers were compared
};

// `named`: that a class is called "0" is its name and not its number.
ClassMap with_classes(
    std::shared_ptr<const IndexedSource> source,
    const std::vector<std::string>& classes,
    bool named);

} // namespace temper::data
