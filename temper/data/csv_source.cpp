#include "temper/data/csv_source.h"

#include "temper/base/hash.h"
#include "temper/base/text.h"
#include "temper/data/split.h"

namespace temper::data {

CsvSource::CsvSource(
    const std::filesystem::path& path,
    const std::string& target)
    : table_(read_csv(path, target)), file_name_(path.filename().string()) {
  Hasher hasher;
  hasher.add(file_name_);
  hasher.add(static_cast<std::uint64_t>(table_.rows));
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    const CsvColumn& column = table_.columns[i];
    hasher.add(column.name);
    hasher.add(std::uint64_t{column.categories.size()});
    if (i == table_.target) continue;
    if (!column.text) features_.push_back(column.name);
    for (const auto& category : column.categories)
      features_.push_back(cat(column.name, "=", category));
  }
  hasher.add(std::uint64_t{table_.target});
  fingerprint_ = hasher.value();
  const CsvColumn& answer = table_.columns[table_.target];
  info_.name = cat("csv:", file_name_);
  info_.input = Input::numbers;
  info_.shape = {static_cast<std::int64_t>(features_.size())};
  info_.target = answer.text ? Target::label : Target::numbers;
  info_.classes = answer.categories;
  info_.target_size = answer.text ? 0 : 1;
}

const float* CsvSource::row(std::int64_t index) const {
  check(0 <= index && index < table_.rows, "a row is inside its table");
  return table_.cells.data() +
      static_cast<std::size_t>(index) * table_.columns.size();
}

void CsvSource::read(std::int64_t index, Sample& sample) const {
  const float* cells = row(index);
  sample.numbers.assign(features_.size(), 0.0F);
  float* out = sample.numbers.data();
  for (std::size_t i = 0; i < table_.columns.size(); ++i) {
    if (i == table_.target) continue;
    const CsvColumn& column = table_.columns[i];
    if (!column.text) {
      *out++ = cells[i];
      continue;
    }
    if (cells[i] >= 0) out[static_cast<std::size_t>(cells[i])] = 1.0F;
    out += column.categories.size();
  }
  const float answer = cells[table_.target];
  if (info_.target == Target::label)
    sample.label = static_cast<std::int64_t>(answer);
  else
    sample.target_numbers.assign(1, answer);
}

std::optional<std::int64_t> CsvSource::label(std::int64_t index) const {
  if (info_.target != Target::label) return std::nullopt;
  return static_cast<std::int64_t>(row(index)[table_.target]);
}

std::string CsvSource::describe(std::int64_t index) const {
  return cat(file_name_, " row ", index + 1);
}

Splits open_csv(const std::filesystem::path& path, const OpenOptions& options) {
  auto source = std::make_shared<CsvSource>(path, options.target);
  return split(source, options.val_fraction, options.seed);
}

} // namespace temper::data
