// The preprocessing that `temper export --with-preprocessing` puts into a
// graph, made from a schema, and what the file's own schema says of it.
#pragma once

#include <string>

#include "temper/data/sample/schema.h"
#include "temper/graph/pass/wrap.h"

namespace temper::cli {

graph::InputSteps input_steps(const data::Schema& schema);

// `loss` is train.loss of the run: each output of "bce" is a probability by
// itself.
graph::OutputSteps output_steps(
    const data::Schema& schema,
    const std::string& loss);

// The schema's JSON, with what is already inside the graph under "exported".
std::string schema_of_export(
    const std::string& schema_json,
    const graph::InputSteps& before,
    const graph::OutputSteps& after);

} // namespace temper::cli
