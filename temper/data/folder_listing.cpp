#include "temper/data/folder_listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/hash.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayout =
    "Put the images of each class into a folder of its own: "
    "PATH/cat/1.jpg, PATH/dog/2.jpg.";

[[noreturn]] void refuse_listing(const std::string& path, const char* why) {
  throw Error(
      cat("[data] cannot list ", path, ": ", why, "."),
      "Check the path and its permissions.");
}

// Calls `visit` with each entry that is not hidden. The directory is closed
// when this returns.
template <class Visit>
void for_each_entry(const std::string& path, const Visit& visit) {
  std::error_code failure;
  fs::directory_iterator entry(path, failure);
  while (!failure && entry != fs::directory_iterator()) {
    const std::string name = entry->path().filename().string();
    if (name.front() != '.') visit(name, *entry);
    entry.increment(failure);
  }
  if (failure) refuse_listing(path, failure.message().c_str());
}

// What identifies a directory whatever path leads to it.
using Identity = std::pair<dev_t, ino_t>;

Identity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    refuse_listing(path, std::strerror(errno));
  return {status.st_dev, status.st_ino};
}

class ClassLister {
 public:
  ClassLister(std::string root, FolderListing& listing, Hasher& hasher)
      : root_(std::move(root)), listing_(listing), hasher_(hasher) {}

  // Directories are visited in the order of their paths. A new one always
  // comes behind its parent, so the first of those waiting is the next.
  void list() {
    waiting_.emplace("", std::vector<Identity>{identity_of(root_)});
    while (!waiting_.empty()) {
      const auto next = waiting_.extract(waiting_.begin());
      list_directory(next.key(), next.mapped());
    }
  }

 private:
  struct File {
    const char* name;
    std::uint64_t bytes;
  };

  // `inside` is "" or ends with a slash.
  void list_directory(
      const std::string& inside,
      const std::vector<Identity>& above) {
    std::vector<File> files;
    const std::string path = cat(root_, "/", inside);
    for_each_entry(path, [&](const std::string& name, const auto& entry) {
      std::error_code failure;
      if (entry.is_directory(failure)) {
        wait_for(cat(inside, name), above);
      } else if (has_image_name(name)) {
        const bool missing = !entry.exists(failure);
        // A link to nothing stays in, as a bad sample; a pipe does not.
        if (!missing && !entry.is_regular_file(failure)) return;
        const std::uint64_t bytes = missing ? 0 : entry.file_size(failure);
        files.push_back({listing_.files.keep(cat(inside, name)), bytes});
      }
    });
    std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
      return std::strcmp(a.name, b.name) < 0;
    });
    for (const File& file : files) {
      listing_.files.append(file.name);
      hasher_.add(std::string_view(file.name));
      hasher_.add(file.bytes);
    }
  }

  void wait_for(const std::string& folder, std::vector<Identity> above) {
    const Identity identity = identity_of(cat(root_, "/", folder));
    if (std::find(above.begin(), above.end(), identity) != above.end())
      throw Error(
          cat("[data] ",
              root_,
              "/",
              folder,
              " leads back to a folder above it."),
          "Remove that link.");
    above.push_back(identity);
    waiting_.emplace(folder + "/", std::move(above));
  }

  // With the trailing slash, so that "a/b/" sorts as os.walk's paths do.
  struct ByPath {
    bool operator()(const std::string& a, const std::string& b) const {
      return std::string_view(a).substr(0, a.empty() ? 0 : a.size() - 1) <
          std::string_view(b).substr(0, b.empty() ? 0 : b.size() - 1);
    }
  };

  std::string root_;
  FolderListing& listing_;
  Hasher& hasher_;
  std::map<std::string, std::vector<Identity>, ByPath> waiting_;
};

std::int64_t count_images(const std::string& folder) {
  std::int64_t count = 0;
  for_each_entry(folder, [&](const std::string& name, const auto& entry) {
    std::error_code failure;
    if (has_image_name(name) && !entry.is_directory(failure)) ++count;
  });
  return count;
}

void refuse_empty_classes(
    const std::string& root,
    const std::vector<std::string>& empty) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown(
      empty.begin(),
      empty.begin() +
          static_cast<std::ptrdiff_t>(std::min(kShown, empty.size())));
  if (empty.size() > kShown) shown.push_back("...");
  throw Error(
      cat("[data] ",
          plural(static_cast<std::int64_t>(empty.size()), "class folder"),
          " of ",
          root,
          " without images: ",
          join(shown, ", "),
          "."),
      "Add images (.jpg, .png, .webp, .bmp, .ppm), or remove the folders.");
}

} // namespace

bool has_image_name(const std::string& name) {
  static const std::vector<std::string> endings{
      ".jpg",
      ".jpeg",
      ".png",
      ".ppm",
      ".bmp",
      ".pgm",
      ".tif",
      ".tiff",
      ".webp",
      ".pbm",
      ".pnm"};
  const std::string ending = lower(fs::path(name).extension().string());
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

std::vector<std::string> subfolders(const std::string& root) {
  std::vector<std::string> names;
  for_each_entry(root, [&](const std::string& name, const auto& entry) {
    std::error_code failure;
    if (entry.is_directory(failure)) names.push_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}

FolderListing list_class_folders(const std::string& root) {
  FolderListing listing;
  listing.classes = subfolders(root);
  const std::int64_t stray = count_images(root);
  if (listing.classes.empty())
    throw Error(
        stray == 0 ? cat("[data] ", root, " has no class folders.")
                   : cat("[data] ",
                         root,
                         " has ",
                         plural(stray, "image"),
                         " and no class folders."),
        kLayout);
  if (stray > 0)
    log::warn(
        cat("[data] ",
            plural(stray, "image"),
            " directly in ",
            root,
            " belong to no class and are not used."));

  Hasher hasher;
  std::vector<std::string> empty;
  for (const std::string& name : listing.classes) {
    const std::size_t begin = listing.files.size();
    listing.begins.push_back(static_cast<std::int64_t>(begin));
    hasher.add(std::string_view(name));
    ClassLister(cat(root, "/", name), listing, hasher).list();
    if (listing.files.size() == begin) empty.push_back(name);
  }
  if (!empty.empty()) refuse_empty_classes(root, empty);
  listing.begins.push_back(static_cast<std::int64_t>(listing.files.size()));
  listing.fingerprint = hasher.value();
  return listing;
}

} // namespace temper::data
