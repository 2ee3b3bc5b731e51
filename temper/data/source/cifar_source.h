// CIFAR-10 and CIFAR-100 in their binary version: records of one or two label
// bytes and a 32 x 32 image, plane by plane, in files that are mapped.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "temper/base/file/mapped_file.h"
#include "temper/data/content/content.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct CifarFormat {
  std::string name; // "cifar10"
  int label_bytes = 1; // the last of them is the label that is used
  std::vector<std::string> classes;
  std::vector<float> mean;
  std::vector<float> deviation;

  std::size_t record_bytes() const {
    return static_cast<std::size_t>(label_bytes) + std::size_t{3} * 32 * 32;
  }
};

CifarFormat cifar10_format();
CifarFormat cifar100_format(); // its label is the fine one

class CifarSource : public IndexedSource {
 public:
  // Error when a file is not whole records, or there is no record at all.
  CifarSource(
      CifarFormat format,
      const std::vector<std::filesystem::path>& files);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }

 private:
  struct File {
    std::string name;
    MappedFile mapped;
    std::int64_t first = 0; // index of its first record
  };
  const File& file_of(std::int64_t index) const;
  std::span<const std::uint8_t> record(std::int64_t index) const;

  CifarFormat format_;
  SourceInfo info_;
  std::vector<File> files_;
  std::int64_t size_ = 0;
  Content content_;
};

// `directory` holds data_batch_1.bin ... and test_batch.bin, or train.bin and
// test.bin. Batches that are missing are named in a note; one must be there.
Splits open_cifar10(
    const std::filesystem::path& directory,
    const OpenOptions& options);
Splits open_cifar100(
    const std::filesystem::path& directory,
    const OpenOptions& options);

} // namespace temper::data
