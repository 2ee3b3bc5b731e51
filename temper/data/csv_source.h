// `csv:PATH`: a table whose rows are samples. Numbers stay as they are; a text
// column becomes one input per category, 1 for the row's own and 0 for the
// others. What is a class and what a number to predict: csv_table.h.
#pragma once

#include <filesystem>

#include "temper/data/csv_table.h"
#include "temper/data/open.h"
#include "temper/data/source.h"

namespace temper::data {

class CsvSource : public IndexedSource {
 public:
  CsvSource(const std::filesystem::path& path, const std::string& target);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return table_.rows;
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override {
    return fingerprint_;
  }
  // Of the inputs, in order: "age", "colour=red".
  const std::vector<std::string>& feature_names() const {
    return features_;
  }

 private:
  const float* row(std::int64_t index) const;

  SourceInfo info_;
  CsvTable table_;
  std::vector<std::string> features_;
  std::string file_name_;
  std::uint64_t fingerprint_ = 0;
};

Splits open_csv(const std::filesystem::path& path, const OpenOptions& options);

} // namespace temper::data
