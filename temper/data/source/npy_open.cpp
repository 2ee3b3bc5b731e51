// Which arrays of a file or folder are the inputs, which the targets, and
// which of them validate.
#include <algorithm>
#include <array>
#include <map>

#include "temper/base/text.h"
#include "temper/data/format/npz.h"
#include "temper/data/sample/schema.h"
#include "temper/data/sample/split.h"
#include "temper/data/source/npy_source.h"

namespace temper::data {
namespace {

struct Pair {
  const char* inputs;
  const char* targets;
};

// Compared without case: X_train is as common as x_train.
constexpr std::array<Pair, 6> kTrainPairs{{
    {"x_train", "y_train"},
    {"train_images", "train_labels"},
    {"x", "y"},
    {"images", "labels"},
    {"data", "targets"},
    {"arr_0", "arr_1"},
}};
constexpr std::array<Pair, 4> kValPairs{{
    {"x_val", "y_val"},
    {"val_images", "val_labels"},
    {"x_test", "y_test"},
    {"test_images", "test_labels"},
}};

// The arrays there are: lower-case name to the name as it is written.
using Names = std::map<std::string, std::string>;

Names arrays_in(const std::filesystem::path& path, bool folder) {
  Names names;
  if (!folder) {
    for (const auto& name : npz_names(path))
      names.emplace(lower(name), name);
    return names;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".npy") {
      const std::string name = entry.path().stem().string();
      names.emplace(lower(name), name);
    }
  return names;
}

template <std::size_t Count>
const Pair* pair_in(const Names& names, const std::array<Pair, Count>& pairs) {
  for (const Pair& pair : pairs)
    if (names.count(pair.inputs) > 0 && names.count(pair.targets) > 0)
      return &pair;
  return nullptr;
}

[[noreturn]] void refuse_names(
    const std::filesystem::path& path,
    const Names& names) {
  std::vector<std::string> there;
  std::vector<std::string> wanted;
  for (const auto& [key, name] : names)
    if (there.size() < 10) there.push_back(name);
  for (const Pair& pair : kTrainPairs)
    wanted.push_back(cat(pair.inputs, "/", pair.targets));
  throw Error(
      cat("[data] no inputs and targets in ",
          path.string(),
          ": its arrays are ",
          there.empty() ? "none" : join(there, ", "),
          "."),
      cat("Name a pair of them ", join(wanted, ", "), "."));
}

// Another source means by its targets what training meant.
bool one_hot_is_class(const OpenOptions& options) {
  return options.schema != nullptr ? options.schema->target == Target::label
                                   : options.numbers.one_hot_is_class;
}

std::shared_ptr<NpySource> one_file(
    const std::filesystem::path& path,
    const OpenOptions& options) {
  auto labels = path;
  labels.replace_filename(cat(path.stem().string(), "_labels.npy"));
  if (!std::filesystem::exists(labels))
    throw Error(
        cat("[data] no targets for ",
            path.string(),
            ": there is no ",
            labels.filename().string(),
            " beside it."),
        "Save the labels under that name, or both in one .npz as x and y.");
  return std::make_shared<NpySource>(
      cat("npy:", path.filename().string()),
      map_npy(path),
      map_npy(labels),
      one_hot_is_class(options));
}

Splits with_note(
    const std::shared_ptr<NpySource>& train,
    std::shared_ptr<NpySource> val,
    const OpenOptions& options) {
  Splits parts;
  if (val == nullptr) {
    parts = divide(train, options);
  } else {
    parts.train = train;
    parts.val = std::move(val);
  }
  // Another source than the training one is what the schema says.
  if (!train->note().empty() && !options.whole)
    parts.notes.push_back(train->note());
  return parts;
}

} // namespace

Splits open_npy(const std::filesystem::path& path, const OpenOptions& options) {
  if (!std::filesystem::exists(path))
    throw Error(cat("[data] there is no ", path.string(), "."));
  const bool folder = std::filesystem::is_directory(path);
  if (!folder && path.extension() == ".npy")
    return with_note(one_file(path, options), nullptr, options);

  const Names names = arrays_in(path, folder);
  const auto open_pair = [&](const Pair& pair) {
    const auto array = [&](const char* name) {
      const std::string& written = names.at(name);
      return folder ? map_npy(path / cat(written, ".npy"))
                    : read_npz(path, written);
    };
    return std::make_shared<NpySource>(
        cat("npy:", path.filename().string()),
        array(pair.inputs),
        array(pair.targets),
        one_hot_is_class(options));
  };
  const Pair* train_pair = pair_in(names, kTrainPairs);
  if (train_pair == nullptr) refuse_names(path, names);
  auto train = open_pair(*train_pair);
  const Pair* val_pair = pair_in(names, kValPairs);
  return with_note(
      train, val_pair == nullptr ? nullptr : open_pair(*val_pair), options);
}

} // namespace temper::data
