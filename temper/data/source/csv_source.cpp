#include "temper/data/source/csv_source.h"

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/sample/split.h"

namespace temper::data {

CsvSource::CsvSource(
    std::shared_ptr<const CsvTable> table,
    const std::filesystem::path& path)
    : table_(std::move(table)),
      file_name_(path.filename().string()),
      content_(1, [path](std::size_t) {
        return ContentFile{path.filename().string(), path.string()};
      }) {
  const CsvColumn& answer = table_->target;
  info_.name = cat("csv:", file_name_);
  info_.input = Input::numbers;
  info_.shape = {static_cast<std::int64_t>(table_->columns.size())};
  const bool is_class = answer.kind == ColumnKind::category;
  info_.target = is_class ? Target::label : Target::numbers;
  info_.classes = answer.categories;
  info_.target_size = is_class ? 0 : 1;
}

const float* CsvSource::row(std::int64_t index) const {
  check(0 <= index && index < table_->rows, "a row is inside its table");
  return table_->cells.data() +
      static_cast<std::size_t>(index) * table_->width();
}

void CsvSource::read(std::int64_t index, Sample& sample) const {
  const float* cells = row(index);
  const float* answer = cells + table_->columns.size();
  sample.numbers.assign(cells, answer);
  if (info_.target == Target::label)
    sample.label = static_cast<std::int64_t>(*answer);
  else
    sample.target_numbers.assign(1, *answer);
}

std::optional<std::int64_t> CsvSource::label(std::int64_t index) const {
  if (info_.target != Target::label) return std::nullopt;
  return static_cast<std::int64_t>(row(index)[table_->columns.size()]);
}

std::string CsvSource::describe(std::int64_t index) const {
  return cat(file_name_, " row ", index + 1);
}

std::uint64_t CsvSource::fingerprint() const {
  Hasher hasher;
  hasher.add(content_.value());
  hasher.add(table_->target.name);
  return hasher.value();
}

Splits open_csv(const std::filesystem::path& path, const OpenOptions& options) {
  auto table = std::make_shared<const CsvTable>(read_csv(path, options));
  Splits parts = divide(std::make_shared<CsvSource>(table, path), options);
  parts.notes = table->notes;
  parts.table = std::move(table);
  return parts;
}

} // namespace temper::data
