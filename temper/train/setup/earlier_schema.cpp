#include "temper/train/setup/earlier_schema.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"

namespace temper::train {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

constexpr const char* kSchema = "schema.json";

// In the run's folder, which weights of a checkpoint lie two below.
std::optional<fs::path> schema_above(fs::path path) {
  constexpr int kLevels = 4;
  std::error_code failed;
  for (int i = 0; i < kLevels && !path.empty(); ++i) {
    if (fs::is_regular_file(path / kSchema, failed)) return path / kSchema;
    path = path.parent_path();
  }
  return std::nullopt;
}

bool within(const Names& names, const Names& all) {
  const std::set<std::string> known(all.begin(), all.end());
  return std::all_of(names.begin(), names.end(), [&](const auto& name) {
    return known.contains(name);
  });
}

bool same_names(const Names& names, const Names& others) {
  return within(names, others) && within(others, names);
}

Names column_names(const data::Schema& schema) {
  Names names;
  for (const data::Column& column : schema.columns)
    names.push_back(column.name);
  return names;
}

bool columns_read_as(const data::Schema& now, const data::Schema& earlier) {
  if (now.columns.size() != earlier.columns.size()) return false;
  return std::all_of(
      now.columns.begin(), now.columns.end(), [&](const data::Column& column) {
        const auto same = std::find_if(
            earlier.columns.begin(),
            earlier.columns.end(),
            [&](const data::Column& each) {
              return each.name == column.name && each.kind == column.kind;
            });
        return same != earlier.columns.end() &&
            within(column.categories, same->categories);
      });
}

std::string some(const Names& names) {
  constexpr std::size_t kShown = 6;
  const Names shown(
      names.begin(),
      names.begin() +
          static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  return cat(join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

} // namespace

EarlierSchema earlier_schema(const config::Model& model) try {
  EarlierSchema made;
  std::optional<std::string> text;
  if (!model.weights.empty()) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
    const auto file = schema_above(fs::path(model.weights));
    if (!file) return {};
    made.of = file->parent_path().string();
    text = read_small_file(*file, kMostBytes);
  } else if (fs::path(model.name).extension() == ".pt2") {
    made.of = model.name;
    text = graph::read_pt2_extra(model.name, kSchema);
  }
  if (!text || text->empty()) return {};
  // A model with its preprocessing inside wants what lies in the files.
  if (contains(*text, "\"exported\"")) return {};
  made.schema = std::make_shared<const data::Schema>(
      data::parse_schema(*text, cat("the schema of ", made.of)));
  return made;
} catch (const Error&) {
  return {};
}

bool reads_as(const data::Schema& now, const data::Schema& earlier) {
  if (now.input != earlier.input || now.target != earlier.target) return false;
  if (now.columns.empty() != earlier.columns.empty()) return false;
  if (now.columns.empty() && now.input == data::Input::numbers &&
      now.input_shape != earlier.input_shape)
    return false;
  if (!columns_read_as(now, earlier)) return false;
  if (now.tokens != earlier.tokens ||
      !within(now.vocabulary, earlier.vocabulary))
    return false;
  if (now.image && earlier.image &&
      now.image->channels != earlier.image->channels)
    return false;
  return same_names(now.classes, earlier.classes) &&
      now.target_name == earlier.target_name &&
      now.target_size == earlier.target_size;
}

std::string other_meaning(
    const data::Schema& now,
    const EarlierSchema& earlier) {
  const data::Schema& was = *earlier.schema;
  const auto told = [&](const char* what, const Names& had, const Names& have) {
    return cat(
        "the weights of ",
        earlier.of,
        " know the ",
        what,
        " ",
        some(had),
        ", and the data has ",
        some(have),
        ": they begin with another meaning");
  };
  if (now.classes.size() == was.classes.size() &&
      !same_names(now.classes, was.classes))
    return told("classes", was.classes, now.classes);
  if (now.columns.size() == was.columns.size() &&
      !same_names(column_names(now), column_names(was)))
    return told("columns", column_names(was), column_names(now));
  if (now.vocabulary.size() == was.vocabulary.size() &&
      !same_names(now.vocabulary, was.vocabulary))
    return told("characters", was.vocabulary, now.vocabulary);
  return "";
}

} // namespace temper::train
