#include "temper/cli/commands/preprocessing.h"

#include <nlohmann/json.hpp>

namespace temper::cli {
namespace {

using Json = nlohmann::ordered_json;

// A table's inputs are its columns as the model has them: a number each, and
// for a category one for each of its names, 0 or 1 as they are.
void scale_columns(const data::Schema& schema, graph::InputSteps& steps) {
  for (const data::Column& column : schema.columns) {
    const bool category = column.kind == data::ColumnKind::category;
    const std::size_t inputs = category ? column.categories.size() : 1;
    steps.mean.insert(steps.mean.end(), inputs, category ? 0 : column.mean);
    steps.deviation.insert(
        steps.deviation.end(), inputs, category ? 1 : column.deviation);
    steps.fill.insert(steps.fill.end(), inputs, category ? 0 : column.fill);
  }
}

const char* input_text(const graph::InputSteps& before) {
  if (before.pixels)
    return "uint8 pixels from 0 to 255, [N, height, width, channels], after "
           "resize and crop";
  if (!before.fill.empty())
    return "float32 [N, columns]: numbers as they are in the table (NaN: "
           "missing), categories as 0 and 1";
  return "float32 as they are in the file";
}

const char* output_text(graph::OutputStep step) {
  switch (step) {
    case graph::OutputStep::kSoftmax:
      return "probabilities, in the order of target.classes";
    case graph::OutputStep::kSigmoid:
      return "a probability for each output";
    case graph::OutputStep::kScale:
      return "numbers in the target's own units";
    case graph::OutputStep::kNone:
      break;
  }
  return "as the model gives it";
}

} // namespace

graph::InputSteps input_steps(const data::Schema& schema) {
  graph::InputSteps steps;
  if (schema.image) {
    steps.pixels = true;
    steps.mean.assign(schema.image->mean.begin(), schema.image->mean.end());
    steps.deviation.assign(
        schema.image->deviation.begin(), schema.image->deviation.end());
  } else if (!schema.columns.empty()) {
    scale_columns(schema, steps);
  } else if (schema.array) {
    steps.order = schema.array->order;
    steps.mean = schema.array->mean;
    steps.deviation = schema.array->deviation;
  }
  return steps;
}

graph::OutputSteps output_steps(
    const data::Schema& schema,
    const std::string& loss) {
  graph::OutputSteps steps;
  if (loss == "bce") {
    steps.step = graph::OutputStep::kSigmoid;
  } else if (schema.target == data::Target::label) {
    steps.step = graph::OutputStep::kSoftmax;
  } else if (!schema.target_mean.empty()) {
    steps.step = graph::OutputStep::kScale;
    steps.mean = schema.target_mean;
    steps.deviation = schema.target_deviation;
  }
  return steps;
}

std::string schema_of_export(
    const std::string& schema_json,
    const graph::InputSteps& before,
    const graph::OutputSteps& after) {
  Json json = Json::parse(schema_json);
  json["exported"] = {
      {"preprocessing", "inside"},
      {"input", input_text(before)},
      {"output", output_text(after.step)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace temper::cli
