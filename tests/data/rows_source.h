// Rows of numbers held in memory, for the tests of what works on tables.
#pragma once

#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct Row {
  std::vector<float> inputs;
  float target = 0; // or the label
};

class RowsSource : public IndexedSource {
 public:
  // `classes` empty: the targets are numbers.
  explicit RowsSource(
      std::vector<Row> rows,
      std::vector<std::string> classes = {})
      : rows_(std::move(rows)) {
    info_.name = "rows";
    info_.input = Input::numbers;
    info_.shape = {static_cast<std::int64_t>(rows_.at(0).inputs.size())};
    info_.target = classes.empty() ? Target::numbers : Target::label;
    info_.target_size = classes.empty() ? 1 : 0;
    info_.classes = std::move(classes);
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(rows_.size());
  }
  void read(std::int64_t index, Sample& sample) const override {
    const Row& row = rows_.at(static_cast<std::size_t>(index));
    sample.numbers = row.inputs;
    sample.target_numbers.assign(1, row.target);
    if (info_.target == Target::label)
      sample.label = static_cast<std::int64_t>(row.target);
  }
  std::string describe(std::int64_t index) const override {
    return cat("row ", index);
  }
  std::uint64_t fingerprint() const override {
    return 1;
  }

 private:
  SourceInfo info_;
  std::vector<Row> rows_;
};

} // namespace temper::data
