#include "temper/data/open/fit.h"

#include <algorithm>
#include <utility>

#include "temper/base/random/permutation.h"
#include "temper/base/text.h"
#include "temper/data/open/array_schema.h"
#include "temper/data/open/class_map.h"
#include "temper/data/open/table_schema.h"
#include "temper/data/sample/limited_source.h"
#include "temper/data/sample/split.h"

namespace temper::data {
namespace {

using Source = std::shared_ptr<const IndexedSource>;

struct Fitter {
  const OpenOptions& options;
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const CsvTable> table;
  std::vector<std::string>& notes;

  Source fit(Source source, const std::string& part) const;

 private:
  void unseen(const std::string& what, const std::string& then) const;
  void note_categories(const IndexedSource& rows, const std::string& part)
      const;
};

// Samples of all its classes, whatever their order.
Source some_of(Source source, std::int64_t most, std::uint64_t seed) {
  constexpr std::uint64_t kPurpose = 0x4C494D4954ULL;
  if (most <= 0 || source == nullptr || source->size() <= most) return source;
  const std::uint64_t key = mix64(seed ^ kPurpose);
  return std::make_shared<SubsetSource>(std::move(source), key, 0, most);
}

// The first samples, unless they are sorted by class and would be of one only.
Source first_of(const Source& source, const OpenOptions& options) {
  const std::int64_t most = options.limit;
  const bool sorted = most > 0 && most < source->size() &&
      source->info().target == Target::label && source->label(0) &&
      source->label(0) == source->label(most - 1) &&
      source->label(0) != source->label(source->size() - 1);
  return sorted ? some_of(source, most, options.seed) : limited(source, most);
}

[[noreturn]] void misfit(
    const SourceInfo& info,
    const std::string& has,
    const std::string& wanted,
    const std::string& hint) {
  throw Error(
      cat("[data] ",
          info.name,
          " has ",
          has,
          ", and training has ",
          wanted,
          "."),
      hint);
}

// Differences that a schema cannot bridge are errors.
void check_goes_with(const SourceInfo& info, const Schema& schema) {
  if (info.input != schema.input)
    misfit(
        info,
        cat(to_string(info.input), " as input"),
        to_string(schema.input),
        "Use a source of the same kind as for training.");
  if (info.target != schema.target)
    misfit(
        info,
        cat(to_string(info.target), " as target"),
        to_string(schema.target),
        "Use a source whose targets are of the same kind as in training.");
  if (schema.image && info.channels != schema.image->channels)
    misfit(
        info,
        plural(info.channels, "channel"),
        cat(schema.image->channels),
        "Save the images with as many channels as those of training.");
  if (info.input == Input::numbers && info.shape != schema.input_shape)
    misfit(
        info,
        cat("inputs of ", numbers_text(info.shape, " x ")),
        numbers_text(schema.input_shape, " x "),
        "Give both sources inputs of the same shape.");
  if (info.target == Target::numbers &&
      static_cast<std::size_t>(info.target_size) != schema.target_size)
    misfit(
        info,
        plural(info.target_size, "number"),
        cat(schema.target_size, " to predict"),
        "Give both sources targets of the same shape.");
}

Schema learn(
    const IndexedSource& train,
    const Splits& raw,
    const OpenOptions& options,
    std::vector<std::string>& notes) {
  Schema schema;
  if (raw.schema != nullptr) schema = *raw.schema; // what is known by now
  const SourceInfo& info = train.info();
  schema.input = info.input;
  schema.target = info.target;
  schema.input_shape = info.shape;
  schema.classes = info.classes;
  schema.target_size = static_cast<std::size_t>(info.target_size);
  if (info.input == Input::image) {
    ImageRule rule;
    rule.channels = info.channels;
    rule.height = info.height;
    rule.width = info.width;
    schema.image = std::move(rule);
    schema.input_shape = {info.channels, info.height, info.width};
  }
  if (raw.table != nullptr)
    learn_table(train, *raw.table, options.numbers, schema);
  else if (info.input == Input::numbers || info.target == Target::numbers)
    learn_array(train, options.numbers, schema, notes);
  return schema;
}

void note_target(const Schema& schema, std::vector<std::string>& notes) {
  if (schema.target_mean.empty()) return;
  const bool one = schema.target_mean.size() == 1;
  notes.push_back(
      cat(schema.target_name.empty()
              ? "targets are"
              : cat("the target '", schema.target_name, "' is"),
          " standardised",
          one ? cat(" (mean ",
                    schema.target_mean[0],
                    ", deviation ",
                    schema.target_deviation[0],
                    ")")
              : "",
          ": losses are of that, mae, rmse and r2 in the data's own units"));
}

void note_missing(const Schema& schema, std::vector<std::string>& notes) {
  std::int64_t values = 0;
  std::int64_t columns = 0;
  for (const Column& column : schema.columns) {
    values += column.missing;
    columns += column.missing > 0 ? 1 : 0;
  }
  if (values > 0)
    notes.push_back(
        cat(plural(values, "missing value"),
            " of the training rows in ",
            plural(columns, "column"),
            ": numbers become the column's mean, text becomes no category"));
}

void Fitter::unseen(const std::string& what, const std::string& then) const {
  if (options.unseen_is_error)
    throw Error(
        cat("[data] ", what, "."),
        cat("Set data.unseen = \"note\" to go on: ", then, "."));
  notes.push_back(cat(what, "; ", then));
}

void Fitter::note_categories(const IndexedSource& rows, const std::string& part)
    const {
  for (const auto& [column, found] : unseen_categories(rows, *table, *schema))
    unseen(
        cat(part,
            ": column '",
            column,
            "' of ",
            plural(found.total(), "row"),
            " has categories that training lacks: ",
            found.text()),
        "they count as no category");
}

Source Fitter::fit(Source source, const std::string& part) const {
  if (source == nullptr || source->size() == 0) return source;
  if ((table != nullptr) == schema->columns.empty())
    misfit(
        source->info(),
        table != nullptr ? "columns" : "no columns",
        table != nullptr ? "none" : "some",
        "Use a source of the same kind as for training.");
  if (table != nullptr) {
    note_categories(*source, part);
    source = encoded_rows(std::move(source), table, schema);
  } else {
    source = shaped_array(std::move(source), *schema);
  }
  check_goes_with(source->info(), *schema);
  // A generator may not say which classes it has.
  if (schema->target != Target::label || schema->classes.empty()) return source;
  const std::int64_t before = source->size();
  ClassMap mapped =
      with_classes(std::move(source), schema->classes, table != nullptr);
  if (mapped.by_number)
    notes.push_back(
        cat(part,
            ": classes have names on one side only, so their numbers are "
            "compared"));
  if (mapped.unseen.empty()) return mapped.source;
  const std::string what =
      cat(part,
          ": ",
          count_text(mapped.unseen.total()),
          " of ",
          plural(before, "sample"),
          mapped.unseen.total() == 1 ? " has" : " have",
          " a class that training lacks: ",
          mapped.unseen.text());
  if (mapped.source->size() == 0)
    throw Error(
        cat("[data] ", what, "."),
        cat("Training has ",
            join(
                std::vector<std::string>(
                    schema->classes.begin(),
                    schema->classes.begin() +
                        static_cast<std::ptrdiff_t>(
                            std::min<std::size_t>(schema->classes.size(), 10))),
                ", "),
            ". Give both sources the same classes."));
  unseen(what, "they are not scored");
  return mapped.source;
}

} // namespace

Splits fitted(Splits raw, const OpenOptions& options) {
  Splits made;
  made.divided = raw.divided;
  made.notes = std::move(raw.notes);
  made.test = std::move(raw.test);
  const Source train = first_of(raw.train, options);
  made.schema = options.schema != nullptr
      ? options.schema
      : std::make_shared<const Schema>(learn(*train, raw, options, made.notes));
  note_missing(*made.schema, made.notes);
  note_target(*made.schema, made.notes);
  const Fitter fitter{options, made.schema, raw.table, made.notes};
  made.train = fitter.fit(train, "training");
  made.val = fitter.fit(
      some_of(std::move(raw.val), options.limit_val, options.seed),
      "validation");
  return made;
}

std::shared_ptr<const IndexedSource> fitted_other(
    const Splits& raw,
    const std::string& part,
    const OpenOptions& options,
    std::vector<std::string>& notes) {
  check(options.schema != nullptr, "another source obeys a schema");
  const bool has_val = raw.val != nullptr && raw.val->size() > 0;
  Source source = has_val ? raw.val : raw.train;
  for (const std::string& note : raw.notes)
    notes.push_back(cat(part, ": ", note));
  if (!has_val && !raw.test.empty())
    notes.push_back(
        cat(part,
            ": its train/ is used, which has no val/ beside it; ",
            raw.test,
            " would be its test/"));
  const Fitter fitter{options, options.schema, raw.table, notes};
  return fitter.fit(
      some_of(std::move(source), options.limit_val, options.seed), part);
}

} // namespace temper::data
