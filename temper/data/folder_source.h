// Images in class folders: `folder:PATH`. The classes, their numbers and the
// order of the files are those of torchvision's ImageFolder; what a file is
// depends on its first bytes. A file is open only while it is read.
#pragma once

#include <string>

#include "temper/data/folder_listing.h"
#include "temper/data/open.h"
#include "temper/data/source.h"

namespace temper::data {

class FolderSource final : public IndexedSource {
 public:
  // `classes`: those of the training part, whose numbers the labels are;
  // empty: the folder's own. Error when the folder has another class.
  explicit FolderSource(
      std::string root,
      const std::vector<std::string>& classes = {});

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(listing_.files.size());
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override {
    return listing_.fingerprint;
  }

 private:
  std::size_t folder_of(std::int64_t index) const;

  std::string root_;
  FolderListing listing_;
  std::vector<std::int64_t> labels_; // of the folders
  SourceInfo info_;
};

// PATH/train with PATH/val (or valid, validation, test), or else class folders
// that are divided by the seed.
Splits open_folder(const std::string& path, const OpenOptions& options);

} // namespace temper::data
