// Names of sources: `cifar10`, `csv:house.csv`, or a path alone where its kind
// is evident: `house.csv`, `photos`.
#pragma once

#include <string>

namespace temper::data {

// The name with its kind: "csv:house.csv" for house.csv, "folder:photos" for a
// folder of class folders. Names with a kind and what cannot be guessed come
// back as they are.
std::string with_kind(const std::string& name);

// Throws the Error for a name that is no source, with the nearest one.
[[noreturn]] void refuse_source_name(const std::string& name);

} // namespace temper::data
