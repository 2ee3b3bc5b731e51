#include "temper/data/open/table_schema.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/data/open/moments.h"

namespace temper::data {
namespace {

constexpr int kNoCategory = -1;

// Where the table's categories of a column are among the schema's.
std::vector<int> places_of(const CsvColumn& from, const Column& to) {
  std::vector<int> places;
  for (const std::string& name : from.categories) {
    const auto found =
        std::find(to.categories.begin(), to.categories.end(), name);
    places.push_back(
        found == to.categories.end()
            ? kNoCategory
            : static_cast<int>(found - to.categories.begin()));
  }
  return places;
}

// How one column goes into the model.
struct Encoder {
  bool category = false;
  std::vector<int> places; // of the table's categories
  std::size_t inputs = 1;
  double shift = 0; // value = (cell + shift) / deviation
  double deviation = 1;
  float fill = 0; // of a missing number, scaled
};

Encoder encoder_of(const CsvColumn& from, const Column& to) {
  Encoder made;
  made.category = to.kind == ColumnKind::category;
  if (made.category) {
    made.places = places_of(from, to);
    made.inputs = to.categories.size();
    return made;
  }
  made.shift = from.centre - to.mean;
  made.deviation = to.deviation;
  made.fill = static_cast<float>((to.fill - to.mean) / to.deviation);
  return made;
}

class EncodedRows final : public IndexedSource {
 public:
  EncodedRows(
      std::shared_ptr<const IndexedSource> rows,
      std::shared_ptr<const CsvTable> table,
      const std::shared_ptr<const Schema>& schema)
      : rows_(std::move(rows)),
        table_(std::move(table)),
        info_(rows_->info()),
        schema_hash_(hash64(to_json(*schema))) {
    for (std::size_t i = 0; i < schema->columns.size(); ++i)
      encoders_.push_back(encoder_of(table_->columns[i], schema->columns[i]));
    info_.shape = schema->input_shape;
    target_shift_ = table_->target.centre;
    if (schema->target_mean.empty()) return;
    target_shift_ -= schema->target_mean[0];
    target_deviation_ = schema->target_deviation[0];
  }

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return rows_->size();
  }
  void read(std::int64_t index, Sample& sample) const override {
    thread_local std::vector<float> cells;
    rows_->read(index, sample);
    cells.swap(sample.numbers);
    sample.numbers.assign(static_cast<std::size_t>(info_.shape[0]), 0.0F);
    float* out = sample.numbers.data();
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
      encode(encoders_[i], cells[i], out);
      out += encoders_[i].inputs;
    }
    if (info_.target == Target::numbers)
      sample.target_numbers[0] = static_cast<float>(
          (static_cast<double>(sample.target_numbers[0]) + target_shift_) /
          target_deviation_);
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return rows_->label(index);
  }
  std::string describe(std::int64_t index) const override {
    return rows_->describe(index);
  }
  const Content* content() const override {
    return rows_->content();
  }
  std::uint64_t fingerprint() const override {
    Hasher hasher;
    hasher.add(rows_->fingerprint());
    hasher.add(schema_hash_);
    return hasher.value();
  }

 private:
  static void encode(const Encoder& encoder, float cell, float* out) {
    if (encoder.category) {
      const int place = cell < 0
          ? kNoCategory
          : encoder.places[static_cast<std::size_t>(cell)];
      if (place != kNoCategory) out[place] = 1.0F;
      return;
    }
    *out = std::isnan(cell)
        ? encoder.fill
        : static_cast<float>(
              (static_cast<double>(cell) + encoder.shift) / encoder.deviation);
  }

  std::shared_ptr<const IndexedSource> rows_;
  std::shared_ptr<const CsvTable> table_;
  SourceInfo info_;
  std::vector<Encoder> encoders_;
  double target_shift_ = 0;
  double target_deviation_ = 1;
  std::uint64_t schema_hash_;
};

void learn_numbers(Column& column, const Moments& moments, bool scale) {
  column.low = moments.low();
  column.high = moments.high();
  column.fill = moments.mean();
  if (!scale) return;
  column.mean = moments.mean();
  column.deviation = moments.scale();
}

} // namespace

void learn_table(
    const IndexedSource& train,
    const CsvTable& table,
    const NumberOptions& options,
    Schema& schema) {
  const std::size_t columns = table.columns.size();
  std::vector<Moments> moments;
  std::vector<std::vector<bool>> met;
  for (const CsvColumn& column : table.columns) {
    moments.emplace_back(column.centre);
    met.emplace_back(column.categories.size());
  }
  Moments target(table.target.centre);
  std::vector<std::int64_t> missing(columns);
  Sample sample;
  for (std::int64_t row = 0; row < train.size(); ++row) {
    train.read(row, sample);
    for (std::size_t i = 0; i < columns; ++i) {
      const float cell = sample.numbers[i];
      const bool category = table.columns[i].kind == ColumnKind::category;
      if (category ? cell < 0 : std::isnan(cell))
        ++missing[i];
      else if (category)
        met[i][static_cast<std::size_t>(cell)] = true;
      else
        moments[i].add(cell);
    }
    if (train.info().target == Target::numbers)
      target.add(sample.target_numbers[0]);
  }
  std::int64_t inputs = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const CsvColumn& from = table.columns[i];
    Column column;
    column.name = from.name;
    column.kind = from.kind;
    column.form = from.form;
    column.missing = missing[i];
    if (from.kind != ColumnKind::category)
      learn_numbers(column, moments[i], options.scale);
    for (std::size_t at = 0; at < from.categories.size(); ++at)
      if (met[i][at]) column.categories.push_back(from.categories[at]);
    inputs += from.kind == ColumnKind::category
        ? static_cast<std::int64_t>(column.categories.size())
        : 1;
    schema.columns.push_back(std::move(column));
  }
  schema.input_shape = {inputs};
  schema.left_out = table.left_out;
  if (table.decimal != '.') schema.decimal = table.decimal;
  schema.target_name = table.target.name;
  if (train.info().target != Target::numbers) return;
  if (!options.scale || !options.scale_targets) return;
  schema.target_mean = {target.mean()};
  schema.target_deviation = {target.scale()};
}

std::shared_ptr<const IndexedSource> encoded_rows(
    std::shared_ptr<const IndexedSource> rows,
    std::shared_ptr<const CsvTable> table,
    const std::shared_ptr<const Schema>& schema) {
  return std::make_shared<EncodedRows>(
      std::move(rows), std::move(table), schema);
}

std::vector<std::pair<std::string, Unseen>> unseen_categories(
    const IndexedSource& rows,
    const CsvTable& table,
    const Schema& schema) {
  std::vector<std::pair<std::string, Unseen>> found;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const CsvColumn& column = table.columns[i];
    const std::vector<int> places = places_of(column, schema.columns[i]);
    if (std::count(places.begin(), places.end(), kNoCategory) == 0) continue;
    Unseen unseen;
    Sample sample;
    for (std::int64_t row = 0; row < rows.size(); ++row) {
      rows.read(row, sample);
      if (sample.numbers[i] < 0) continue;
      const auto category = static_cast<std::size_t>(sample.numbers[i]);
      if (places[category] == kNoCategory)
        unseen.add(column.categories[category]);
    }
    if (!unseen.empty()) found.emplace_back(column.name, std::move(unseen));
  }
  return found;
}

} // namespace temper::data
