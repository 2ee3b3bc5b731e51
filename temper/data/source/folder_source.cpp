#include "temper/data/source/folder_source.h"

#include <algorithm>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode.h"
#include "temper/data/format/utf8.h"
#include "temper/data/sample/split.h"
#include "temper/data/source/encoded_file.h"

namespace temper::data {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

} // namespace

FolderSource::FolderSource(std::string root)
    : root_(std::move(root)),
      listing_(list_class_folders(root_)),
      content_(listing_.files.size(), [this](std::size_t i) {
        const auto index = static_cast<std::int64_t>(i);
        return ContentFile{name_of(index), describe(index)};
      }) {
  info_.name = cat("folder:", root_);
  info_.input = Input::image;
  info_.target = Target::label;
  info_.channels = 3;
  for (const std::string& folder : listing_.classes)
    info_.classes.push_back(as_utf8(folder));
}

std::size_t FolderSource::folder_of(std::int64_t index) const {
  check(index >= 0 && index < size(), "an index of the folder");
  const auto behind =
      std::upper_bound(listing_.begins.begin(), listing_.begins.end(), index);
  return static_cast<std::size_t>(behind - listing_.begins.begin() - 1);
}

void FolderSource::read(std::int64_t index, Sample& sample) const {
  fill(index, nullptr, sample);
}

void FolderSource::read_window(
    std::int64_t index,
    const WindowChooser& chooser,
    Sample& sample) const {
  fill(index, &chooser, sample);
}

void FolderSource::fill(
    std::int64_t index,
    const WindowChooser* chooser,
    Sample& sample) const {
  sample.label = static_cast<std::int64_t>(folder_of(index));
  sample.warnings = 0;
  try {
    read_encoded_file(describe(index), sample.encoded);
    decode_sample(sample.encoded, chooser, sample);
  } catch (const BadSample& error) {
    rethrow_named(error, describe(index));
  }
}

std::optional<std::int64_t> FolderSource::label(std::int64_t index) const {
  return static_cast<std::int64_t>(folder_of(index));
}

std::string FolderSource::name_of(std::int64_t index) const {
  std::string path = listing_.classes[folder_of(index)];
  path += '/';
  path += listing_.files[static_cast<std::size_t>(index)];
  return path;
}

std::string FolderSource::describe(std::int64_t index) const {
  return cat(root_, "/", name_of(index));
}

// Names of files count by the order they give, and no further.
std::uint64_t FolderSource::fingerprint() const {
  Hasher hasher;
  for (std::size_t i = 0; i < listing_.classes.size(); ++i) {
    hasher.add(std::string_view(listing_.classes[i]));
    hasher.add(static_cast<std::uint64_t>(listing_.begins[i]));
  }
  hasher.add(content_.value());
  return hasher.value();
}

Splits open_folder(const std::string& path, const OpenOptions& options) {
  const std::string root = without_trailing_slashes(path);
  const std::vector<std::string> parts = subfolders(root);
  const bool has_train = has(parts, "train");
  const bool has_test = has_train && has(parts, "test");
  Splits made;
  std::vector<std::string> notes;
  const auto source = [&](const std::string& folder) {
    auto opened = std::make_shared<FolderSource>(folder);
    notes.insert(notes.end(), opened->notes().begin(), opened->notes().end());
    return opened;
  };
  for (const char* name : {"val", "valid", "validation"}) {
    if (!has_train || !has(parts, name)) continue;
    made.train = source(root + "/train");
    made.val = source(cat(root, "/", name));
    break;
  }
  if (made.train == nullptr) {
    // A root that holds only train/, or test/ beside it, holds parts; otherwise
    // "train" is a class like the others.
    const bool only_train =
        has_test || parts == std::vector<std::string>{"train"};
    made = divide(source(only_train ? root + "/train" : root), options);
    if (has_test && made.val != nullptr)
      notes.push_back(cat(
          root, " has train/ and test/ and no val/: part of train/ validates"));
  }
  made.notes.insert(made.notes.end(), notes.begin(), notes.end());
  if (has_test) made.test = cat("folder:", root, "/test");
  return made;
}

} // namespace temper::data
