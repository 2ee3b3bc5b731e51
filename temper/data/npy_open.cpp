// Which arrays of a file or folder are the inputs, which the targets, and
// which of them validate.
#include <algorithm>
#include <array>
#include <map>

#include "temper/base/text.h"
#include "temper/data/npy_source.h"
#include "temper/data/npz.h"
#include "temper/data/split.h"

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

Names names_in(const std::filesystem::path& path, bool folder) {
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

std::shared_ptr<NpySource> one_file(const std::filesystem::path& path) {
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
      cat("npy:", path.filename().string()), map_npy(path), map_npy(labels));
}

} // namespace

Splits open_npy(const std::filesystem::path& path, const OpenOptions& options) {
  if (!std::filesystem::exists(path))
    throw Error(cat("[data] there is no ", path.string(), "."));
  const bool folder = std::filesystem::is_directory(path);
  if (!folder && path.extension() == ".npy")
    return split(one_file(path), options.val_fraction, options.seed);

  const Names names = names_in(path, folder);
  const auto open_pair = [&](const Pair& pair) {
    const auto array = [&](const char* name) {
      const std::string& written = names.at(name);
      return folder ? map_npy(path / cat(written, ".npy"))
                    : read_npz(path, written);
    };
    return std::make_shared<NpySource>(
        cat("npy:", path.filename().string()),
        array(pair.inputs),
        array(pair.targets));
  };
  const Pair* train_pair = pair_in(names, kTrainPairs);
  if (train_pair == nullptr) refuse_names(path, names);
  auto train = open_pair(*train_pair);
  const Pair* val_pair = pair_in(names, kValPairs);
  if (val_pair == nullptr)
    return split(train, options.val_fraction, options.seed);
  auto val = open_pair(*val_pair);
  const SourceInfo& a = train->info();
  const SourceInfo& b = val->info();
  if (a.input != b.input || a.target != b.target || a.shape != b.shape ||
      a.channels != b.channels || a.height != b.height || a.width != b.width ||
      a.target_size != b.target_size)
    throw Error(
        cat("[data] the parts of ",
            path.string(),
            " differ: ",
            train->describe(0),
            " and ",
            val->describe(0),
            " are not of one shape and type."));
  const std::size_t classes = std::max(a.classes.size(), b.classes.size());
  train->widen_classes(classes);
  val->widen_classes(classes);
  return {train, val};
}

} // namespace temper::data
