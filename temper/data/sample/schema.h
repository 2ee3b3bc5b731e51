// The schema: all that a model has to know of the data it was trained on, so
// that other data means the same to it: which classes, columns, categories and
// characters there are, in which order, and what numbers and pixels are scaled
// with. A schema is made from the training part; validation, test, features,
// exports and predictions get it and never make one of their own. A run keeps
// it as schema.json (docs/schema.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "temper/data/sample/source.h"

namespace temper::data {

enum class ColumnKind { number, category, date };
const char* to_string(ColumnKind kind);

// A column of a table. A number x goes into the model as
// (x - mean) / deviation, a date as the number of its days since 1970-01-01, a
// category as one input for each name, of which the row's own is 1.
struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::number;
  double mean = 0;
  double deviation = 1;
  double fill = 0; // what a missing number becomes: the training rows' mean
  double low = 0; // of the training rows
  double high = 0;
  std::int64_t missing = 0; // training rows without a value
  std::string form; // of dates: "month/day/year"; empty: not known
  std::vector<std::string> categories;
  friend bool operator==(const Column&, const Column&) = default;
};

// The way from a decoded picture to the model's input, without what is random.
struct ImageRule {
  int channels = 3; // 3: red, green, blue; 1: grey
  // The short side is brought to this length, with the proportions kept; 0:
  // images are not resized.
  int short_side = 0;
  std::string filter = "bilinear"; // nearest, bicubic; as PIL resizes
  int height = 0; // of the crop from the middle
  int width = 0;
  // x -> (x / 255 - mean) / deviation, for each channel.
  std::vector<float> mean;
  std::vector<float> deviation;
  friend bool operator==(const ImageRule&, const ImageRule&) = default;
};

// An array of numbers as it goes into the model.
struct ArrayRule {
  // How a sample lies in its file where it is an image of floats: "HWC" is
  // turned into "CHW", "HW" gets one channel. Empty: as it is.
  std::string order;
  // x -> (x - mean) / deviation along the first axis of the model's input (the
  // columns of a row, the channels of an image), or one pair for all. Empty: as
  // they are.
  std::vector<double> mean;
  std::vector<double> deviation;
  friend bool operator==(const ArrayRule&, const ArrayRule&) = default;
};

struct Schema {
  Input input = Input::image;
  Target target = Target::label;
  std::vector<std::int64_t> input_shape; // one sample as the model sees it

  std::optional<ImageRule> image; // of images
  std::optional<ArrayRule> array; // of arrays of numbers
  std::vector<Column> columns; // of a table: the inputs in their order
  std::vector<std::string> left_out; // columns that are no inputs
  std::string decimal; // "," in a table that writes 1,5; empty: a point
  std::string tokens; // of text: "bytes" or "characters"
  std::vector<std::string> vocabulary; // of characters, each as UTF-8

  std::vector<std::string> classes; // in the order of the model's outputs
  std::size_t target_size = 0; // numbers to predict; 0: none
  // The target's name, and the scale of numbers to predict: the user's value is
  // output * deviation + mean. Empty: they are not scaled.
  std::string target_name;
  std::vector<double> target_mean;
  std::vector<double> target_deviation;

  friend bool operator==(const Schema&, const Schema&) = default;
};

// The inputs of a table in the model's order: "age", "colour=red".
std::vector<std::string> input_names(const Schema& schema);

std::string to_json(const Schema& schema); // indented, with a version
// Error for what is no schema, naming `called`; one of a newer version, too.
Schema parse_schema(std::string_view json, const std::string& called);

} // namespace temper::data
