// A pack opened for reading, and its parts as sources.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include "temper/base/mapped_file.h"
#include "temper/data/pack.h"
#include "temper/data/pack_about.h"

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
  PackSource(std::shared_ptr<const PackFile> file, std::size_t part);

  const SourceInfo& info() const override;
  std::int64_t size() const override;
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;

 private:
  std::shared_ptr<const PackFile> file_;
  const PackPart& part_;
  std::uint64_t first_ = 0; // its first record
};

} // namespace temper::data
