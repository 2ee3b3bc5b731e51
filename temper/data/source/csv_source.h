// `csv:PATH`: a table whose rows are samples. Rows come as the cells of the
// file (csv_table.h); open_source() encodes them for a model by a schema
// (table_schema.h). What is a class and what a number to predict: csv_table.h.
#pragma once

#include <filesystem>
#include <memory>

#include "temper/data/content/content.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"
#include "temper/data/source/csv_table.h"

namespace temper::data {

class CsvSource : public IndexedSource {
 public:
  CsvSource(
      std::shared_ptr<const CsvTable> table,
      const std::filesystem::path& path);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return table_->rows;
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }

 private:
  const float* row(std::int64_t index) const;

  SourceInfo info_;
  std::shared_ptr<const CsvTable> table_;
  std::string file_name_;
  Content content_;
};

// Opens a table whose rows are not yet encoded.
Splits open_csv(const std::filesystem::path& path, const OpenOptions& options);

} // namespace temper::data
