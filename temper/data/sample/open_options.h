// Options for opening a source; each kind of source reads the few that concern
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"

namespace temper::data {

// The user's word on the columns of a table.
struct TableOptions {
  // "number", "category" or "date", where a guess would be wrong.
  std::map<std::string, std::string> columns = {};
  std::vector<std::string> drop = {}; // columns that are left out
  std::string decimal = "auto"; // "." or ","
};

// The way of numbers into a model.
struct NumberOptions {
  // Columns of tables and numbers to predict get a mean of 0 and a deviation
  // of 1 by the statistics of the training part.
  bool scale = true;
  bool scale_targets = true;
  // Arrays of floats, too, where they are far from that.
  bool scale_arrays = true;
  // Arrays that can be images are handed out as C x H x W.
  bool as_images = false;
  // Targets that are one 1 and else 0 in every row are classes.
  bool one_hot_is_class = true;
};

struct OpenOptions {
  std::filesystem::path path = {}; // data.path: where a named dataset is
  double val_fraction = 0.1; // where the source has no validation part
  bool stratified = true; // it has the same share of every class
  std::uint64_t seed = 0; // of that split
  std::int64_t limit = 0; // samples of the training part; 0: all
  std::int64_t limit_val = 0; // samples of the validation part; 0: all
  std::string target = {}; // csv: the target column; empty: the last one
  int sequence = 128; // text: tokens in a window
  TableOptions table = {};
  NumberOptions numbers = {};
  // Obeyed by all parts; null: one is made from the training part.
  std::shared_ptr<const Schema> schema = {};
  // Classes and categories that the schema lacks are an error; else they are
  // left out and noted.
  bool unseen_is_error = false;
  // The source is one part, as data.val and data.test are: nothing of it is
  // split off.
  bool whole = false;
};

} // namespace temper::data
