// YAML as PyYAML reads it back unchanged.
// Private to track/mlflow.
#pragma once

#include <string>

namespace temper::track {

// A text as a scalar: always quoted, as a reader takes 123 or no for something
// else. In single quotes where that is possible.
std::string yaml_text(const std::string& text);

} // namespace temper::track
