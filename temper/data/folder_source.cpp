#include "temper/data/folder_source.h"

#include <algorithm>
#include <utility>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/decode.h"
#include "temper/data/encoded_file.h"
#include "temper/data/split.h"

namespace temper::data {
namespace {

std::int64_t number_of(
    const std::string& name,
    const std::vector<std::string>& classes,
    const std::string& root) {
  const auto found = std::lower_bound(classes.begin(), classes.end(), name);
  if (found != classes.end() && *found == name) return found - classes.begin();
  const auto near = nearest(name, classes);
  throw Error(
      cat("[data] ",
          root,
          " has a class that the training part lacks: ",
          name,
          "."),
      near ? cat("Perhaps it should be ", *near, ".")
           : "Give both parts the same class folders.");
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

} // namespace

FolderSource::FolderSource(
    std::string root,
    const std::vector<std::string>& classes)
    : root_(std::move(root)), listing_(list_class_folders(root_)) {
  info_.name = cat("folder:", root_);
  info_.input = Input::image;
  info_.target = Target::label;
  info_.channels = 3;
  info_.classes = classes.empty() ? listing_.classes : classes;
  for (const std::string& name : listing_.classes)
    labels_.push_back(number_of(name, info_.classes, root_));
}

std::size_t FolderSource::folder_of(std::int64_t index) const {
  check(index >= 0 && index < size(), "an index of the folder");
  const auto behind =
      std::upper_bound(listing_.begins.begin(), listing_.begins.end(), index);
  return static_cast<std::size_t>(behind - listing_.begins.begin() - 1);
}

void FolderSource::read(std::int64_t index, Sample& sample) const {
  sample.label = labels_[folder_of(index)];
  sample.warnings = 0;
  try {
    read_encoded_file(describe(index), sample.encoded);
    decode_image(sample.encoded, {3}, sample.image, sample.warnings);
  } catch (const BadSample& error) {
    rethrow_named(error, describe(index));
  }
}

std::optional<std::int64_t> FolderSource::label(std::int64_t index) const {
  return labels_[folder_of(index)];
}

std::string FolderSource::describe(std::int64_t index) const {
  std::string path = root_;
  path += '/';
  path += listing_.classes[folder_of(index)];
  path += '/';
  path += listing_.files[static_cast<std::size_t>(index)];
  return path;
}

Splits open_folder(const std::string& path, const OpenOptions& options) {
  const std::string root = without_trailing_slashes(path);
  const std::vector<std::string> parts = subfolders(root);
  if (has(parts, "train")) {
    for (const char* name : {"val", "valid", "validation", "test"}) {
      if (!has(parts, name)) continue;
      auto train = std::make_shared<FolderSource>(root + "/train");
      auto val = std::make_shared<FolderSource>(
          cat(root, "/", name), train->info().classes);
      return {std::move(train), std::move(val)};
    }
  }
  // A class may be called "train"; a folder of nothing else is a part.
  const bool only_train = parts == std::vector<std::string>{"train"};
  auto whole =
      std::make_shared<FolderSource>(only_train ? root + "/train" : root);
  return split(std::move(whole), options.val_fraction, options.seed);
}

} // namespace temper::data
