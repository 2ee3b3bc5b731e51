#include "temper/data/source/folder_listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "temper/base/error.h"
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

// The identity of a directory, whatever path leads to it.
using Identity = std::pair<dev_t, ino_t>;

Identity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    refuse_listing(path, std::strerror(errno));
  return {status.st_dev, status.st_ino};
}

class ClassLister {
 public:
  ClassLister(std::string root, FolderListing& listing)
      : root_(std::move(root)), listing_(listing) {}

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
  // `inside` is "" or ends with a slash.
  void list_directory(
      const std::string& inside,
      const std::vector<Identity>& above) {
    std::vector<const char*> files;
    const std::string path = cat(root_, "/", inside);
    for_each_entry(path, [&](const std::string& name, const auto& entry) {
      std::error_code failure;
      if (entry.is_directory(failure)) {
        wait_for(cat(inside, name), above);
      } else if (has_image_name(name)) {
        const bool missing = !entry.exists(failure);
        // A link to nothing stays in, as a bad sample; a pipe does not.
        if (!missing && !entry.is_regular_file(failure)) return;
        files.push_back(listing_.files.keep(cat(inside, name)));
      } else {
        ++listing_.ignored[lower(fs::path(name).extension().string())];
      }
    });
    std::sort(files.begin(), files.end(), [](const char* a, const char* b) {
      return std::strcmp(a, b) < 0;
    });
    for (const char* file : files)
      listing_.files.append(file);
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

constexpr std::size_t kNamedFiles = 5;

std::string join_named(std::vector<std::string> names) {
  if (names.size() > kNamedFiles) {
    names.resize(kNamedFiles);
    names.emplace_back("...");
  }
  return join(names, ", ");
}

void note_empty_classes(
    const std::string& root,
    const std::vector<std::string>& empty,
    std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < std::min(kNamedFiles, empty.size()); ++i)
    notes.push_back(cat(root, "/", empty[i], " has no images"));
  if (empty.size() > kNamedFiles)
    notes.push_back(
        cat(empty.size() - kNamedFiles,
            " more class folders of ",
            root,
            " have no images"));
}

void note_ignored(
    const std::string& root,
    const std::map<std::string, std::int64_t>& ignored,
    std::vector<std::string>& notes) {
  if (ignored.empty()) return;
  std::int64_t all = 0;
  std::vector<std::string> endings;
  for (const auto& [ending, count] : ignored) {
    all += count;
    if (endings.size() == kNamedFiles) continue;
    endings.push_back(
        cat(count_text(count), " ", ending.empty() ? "without one" : ending));
  }
  if (ignored.size() > kNamedFiles) endings.push_back("...");
  notes.push_back(
      cat(plural(all, "file"),
          " in the class folders of ",
          root,
          all == 1 ? " is" : " are",
          " not used, as the ending is not an image's: ",
          join(endings, ", ")));
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
    listing.notes.push_back(
        cat(root,
            " holds ",
            plural(stray, "image"),
            " outside its class folders; not used"));

  std::vector<std::string> empty;
  for (const std::string& name : listing.classes) {
    const std::size_t begin = listing.files.size();
    listing.begins.push_back(static_cast<std::int64_t>(begin));
    ClassLister(cat(root, "/", name), listing).list();
    if (listing.files.size() == begin) empty.push_back(name);
  }
  if (listing.files.size() == 0)
    throw Error(
        cat("[data] the class folders of ",
            root,
            " have no images: ",
            join_named(listing.classes),
            "."),
        "Add images (.jpg, .png, .webp, .bmp, .ppm).");
  note_empty_classes(root, empty, listing.notes);
  note_ignored(root, listing.ignored, listing.notes);
  listing.begins.push_back(static_cast<std::int64_t>(listing.files.size()));
  return listing;
}

} // namespace temper::data
