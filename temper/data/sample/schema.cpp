#include "temper/data/sample/schema.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// The fault, to be told with the file's name.
struct Unfit {
  std::string what;
};

template <class T>
T word_of(const std::string& word, std::initializer_list<T> known) {
  for (const T each : known)
    if (word == to_string(each)) return each;
  throw Unfit{cat("it has an unknown word, \"", word, "\"")};
}

Json column_json(const Column& column) {
  Json json{
      {"name", column.name},
      {"kind", to_string(column.kind)},
      {"missing", column.missing}};
  if (column.kind == ColumnKind::category) {
    json["categories"] = column.categories;
  } else {
    json["mean"] = column.mean;
    json["std"] = column.deviation;
    json["fill"] = column.fill;
    json["min"] = column.low;
    json["max"] = column.high;
    if (!column.form.empty()) json["form"] = column.form;
  }
  return json;
}

Column column_of(const Json& json) {
  Column column;
  column.name = json.at("name").get<std::string>();
  column.kind = word_of(
      json.at("kind").get<std::string>(),
      {ColumnKind::number, ColumnKind::category, ColumnKind::date});
  column.missing = json.value("missing", std::int64_t{0});
  if (column.kind == ColumnKind::category) {
    column.categories = json.at("categories").get<std::vector<std::string>>();
    return column;
  }
  column.mean = json.at("mean").get<double>();
  column.deviation = json.at("std").get<double>();
  column.fill = json.value("fill", column.mean);
  column.low = json.value("min", 0.0);
  column.high = json.value("max", 0.0);
  column.form = json.value("form", std::string());
  return column;
}

Json image_json(const ImageRule& rule) {
  Json json{{"channels", rule.channels == 3 ? "RGB" : "L"}};
  if (rule.short_side > 0)
    json["resize"] = {{"short_side", rule.short_side}, {"filter", rule.filter}};
  json["crop"] = {{"height", rule.height}, {"width", rule.width}};
  json["divide_by"] = 255;
  json["mean"] = rule.mean;
  json["std"] = rule.deviation;
  return json;
}

ImageRule image_of(const Json& json) {
  ImageRule rule;
  rule.channels = json.at("channels").get<std::string>() == "RGB" ? 3 : 1;
  if (json.contains("resize")) {
    rule.short_side = json.at("resize").at("short_side").get<int>();
    rule.filter = json.at("resize").at("filter").get<std::string>();
  }
  rule.height = json.at("crop").at("height").get<int>();
  rule.width = json.at("crop").at("width").get<int>();
  rule.mean = json.at("mean").get<std::vector<float>>();
  rule.deviation = json.at("std").get<std::vector<float>>();
  return rule;
}

Json input_json(const Schema& schema) {
  Json json{{"kind", to_string(schema.input)}, {"shape", schema.input_shape}};
  if (schema.image) json["image"] = image_json(*schema.image);
  if (schema.array)
    json["array"] = {
        {"order", schema.array->order},
        {"mean", schema.array->mean},
        {"std", schema.array->deviation}};
  if (!schema.columns.empty()) {
    json["columns"] = Json::array();
    for (const Column& column : schema.columns)
      json["columns"].push_back(column_json(column));
    json["left_out"] = schema.left_out;
    if (!schema.decimal.empty()) json["decimal"] = schema.decimal;
  }
  if (!schema.tokens.empty()) json["tokens"] = schema.tokens;
  if (!schema.vocabulary.empty()) json["vocabulary"] = schema.vocabulary;
  return json;
}

Json target_json(const Schema& schema) {
  Json json{{"kind", to_string(schema.target)}};
  if (!schema.target_name.empty()) json["name"] = schema.target_name;
  if (!schema.classes.empty()) json["classes"] = schema.classes;
  if (schema.target_size > 0) json["size"] = schema.target_size;
  if (!schema.target_mean.empty()) {
    json["mean"] = schema.target_mean;
    json["std"] = schema.target_deviation;
  }
  return json;
}

void check_scales(
    const std::vector<double>& mean,
    const std::vector<double>& deviation) {
  if (mean.size() != deviation.size())
    throw Unfit{"a mean and a std have different lengths"};
  for (std::size_t i = 0; i < mean.size(); ++i)
    if (!std::isfinite(mean[i]) || !(deviation[i] > 0))
      throw Unfit{"a mean is not finite or a std is not above 0"};
}

void check_values(const Schema& schema) {
  check_scales(schema.target_mean, schema.target_deviation);
  if (schema.array) check_scales(schema.array->mean, schema.array->deviation);
  if (schema.image)
    check_scales(
        {schema.image->mean.begin(), schema.image->mean.end()},
        {schema.image->deviation.begin(), schema.image->deviation.end()});
  for (const Column& column : schema.columns)
    check_scales({column.mean}, {column.deviation});
}

Schema schema_of(const Json& json) {
  const int version = json.at("temper_schema").get<int>();
  if (version != kVersion)
    throw Unfit{
        cat("it has version ", version, ", and this temper knows ", kVersion)};
  Schema schema;
  const Json& input = json.at("input");
  const Json& target = json.at("target");
  schema.input = word_of(
      input.at("kind").get<std::string>(),
      {Input::image, Input::numbers, Input::tokens});
  schema.target = word_of(
      target.at("kind").get<std::string>(),
      {Target::label, Target::numbers, Target::tokens});
  schema.input_shape = input.at("shape").get<std::vector<std::int64_t>>();
  if (input.contains("image")) schema.image = image_of(input.at("image"));
  if (input.contains("array")) {
    const Json& array = input.at("array");
    schema.array = ArrayRule{
        array.at("order").get<std::string>(),
        array.at("mean").get<std::vector<double>>(),
        array.at("std").get<std::vector<double>>()};
  }
  if (input.contains("columns"))
    for (const Json& column : input.at("columns"))
      schema.columns.push_back(column_of(column));
  if (input.contains("left_out"))
    schema.left_out = input.at("left_out").get<std::vector<std::string>>();
  schema.decimal = input.value("decimal", std::string());
  schema.tokens = input.value("tokens", std::string());
  if (input.contains("vocabulary"))
    schema.vocabulary = input.at("vocabulary").get<std::vector<std::string>>();
  schema.target_name = target.value("name", std::string());
  schema.target_size = target.value("size", std::size_t{0});
  if (target.contains("classes"))
    schema.classes = target.at("classes").get<std::vector<std::string>>();
  if (target.contains("mean")) {
    schema.target_mean = target.at("mean").get<std::vector<double>>();
    schema.target_deviation = target.at("std").get<std::vector<double>>();
  }
  check_values(schema);
  return schema;
}

} // namespace

const char* to_string(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::number:
      return "number";
    case ColumnKind::category:
      return "category";
    case ColumnKind::date:
      return "date";
  }
  throw Bug("a kind of column outside the table");
}

std::vector<std::string> input_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Column& column : schema.columns) {
    if (column.kind != ColumnKind::category) names.push_back(column.name);
    for (const std::string& category : column.categories)
      names.push_back(cat(column.name, "=", category));
  }
  return names;
}

std::string to_json(const Schema& schema) {
  const Json json{
      {"temper_schema", kVersion},
      {"input", input_json(schema)},
      {"target", target_json(schema)}};
  // Names may hold bytes that are no UTF-8.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Schema parse_schema(std::string_view json, const std::string& called) {
  std::string why;
  try {
    return schema_of(Json::parse(json));
  } catch (const Json::exception& error) {
    why = error.what();
  } catch (const Unfit& unfit) {
    why = unfit.what;
  }
  throw Error(
      cat("[data] cannot use ", called, " as a schema: ", why, "."),
      "It is the schema.json of a run, or what an export has of it.");
}

} // namespace temper::data
