// A pack opened for reading, and its parts as sources.
// Private to data/pack.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "temper/base/file/mapped_file.h"
#include "temper/data/content/content.h"
#include "temper/data/pack/pack.h"
#include "temper/data/pack/pack_about.h"

namespace temper::data {

// The file: verified where it must be, shared by its parts.
class PackFile {
 public:
  explicit PackFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const {
    return path_;
  }
  const std::vector<PackPart>& parts() const {
    return parts_;
  }
  // The labels of all records, and the sums of their pixels.
  std::span<const std::uint8_t> table() const;
  // BadSample when the record is not what was written. From any thread.
  void read(std::uint64_t number, Sample& sample) const;
  std::int64_t label(std::uint64_t number) const {
    return record(number).label;
  }

 private:
  void check_header();
  void check_table() const;
  PackRecord record(std::uint64_t number) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  MappedFile file_;
  PackHeader header_;
  std::vector<PackPart> parts_;
  // A bit for each record that was verified.
  mutable std::vector<std::atomic<std::uint32_t>> verified_;
};

class PackSource : public IndexedSource {
 public:
  // `parts` of them, from number `first` on.
  PackSource(
      std::shared_ptr<const PackFile> file,
      std::size_t first,
      std::size_t parts = 1);

  const SourceInfo& info() const override;
  std::int64_t size() const override;
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }

 private:
  std::shared_ptr<const PackFile> file_;
  std::span<const PackPart> parts_; // joined, one behind the other
  const PackPart& part_; // the first of them
  std::uint64_t first_ = 0; // its first record
  std::int64_t size_ = 0;
  Content content_;
};

} // namespace temper::data
