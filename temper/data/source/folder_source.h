// Images in class folders: `folder:PATH`. The classes, their numbers and the
// order of the files are those of torchvision's ImageFolder; what a file is
// depends on its first bytes. A file is open only while it is read.
#pragma once

#include <string>

#include "temper/data/content/content.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"
#include "temper/data/source/folder_listing.h"

namespace temper::data {

class FolderSource final : public IndexedSource {
 public:
  explicit FolderSource(std::string root);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(listing_.files.size());
  }
  void read(std::int64_t index, Sample& sample) const override;
  void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }
  // Sentences about what of the folder is not used.
  const std::vector<std::string>& notes() const {
    return listing_.notes;
  }

 private:
  // All of the image without a chooser.
  void fill(std::int64_t index, const WindowChooser* chooser, Sample& sample)
      const;
  std::size_t folder_of(std::int64_t index) const;
  std::string name_of(std::int64_t index) const; // below the root

  std::string root_;
  FolderListing listing_;
  SourceInfo info_;
  Content content_;
};

// PATH/train with PATH/val (or valid, validation), or else class folders that
// are divided by the seed: those of PATH/train where there is a PATH/test. Each
// part numbers its own classes: open_source() brings them together.
Splits open_folder(const std::string& path, const OpenOptions& options);

} // namespace temper::data
