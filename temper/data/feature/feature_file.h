// The features that a frozen part of a network computed from every sample of a
// source, in a file that is mapped rather than read: features and targets, by
// index. It is there whole or not at all, and one whose checksum does not hold
// is taken for absent. Written and read by the train room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/digest/hash.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/mapped_file.h"

namespace temper::data {

struct FeatureLayout {
  std::int64_t samples = 0;
  std::int64_t values = 0; // numbers of one sample's features
  std::int64_t target_bytes = 0; // of one target
  friend bool operator==(const FeatureLayout&, const FeatureLayout&) = default;

  std::uint64_t record_bytes() const;
  // Error when no file can be so large.
  std::uint64_t file_bytes() const;
};

struct FeatureAbout {
  FeatureLayout layout;
  // A hash of all that the features follow from; a file with another one is
  // stale.
  std::uint64_t key = 0;
  double seconds = 0; // that computing them took
  std::string what; // "mobilenet_v2 on cifar10, train": for people
};

class FeatureWriter {
 public:
  FeatureWriter(const std::filesystem::path& path, FeatureAbout about);

  // Adds one sample's record, in the order of the samples; those passed over
  // count as bad.
  void add(std::int64_t index, const float* values, const void* target);
  void commit(double seconds);

 private:
  void add_missing(std::int64_t end);

  FeatureAbout about_;
  AtomicFile file_;
  Hasher hasher_;
  std::vector<std::uint8_t> record_;
  std::int64_t next_ = 0;
};

class FeatureFile {
 public:
  // The file of features; null when there is none, it was made from something
  // else, or it is damaged. `why` says which of the latter two, and is empty
  // when there is no file.
  static std::shared_ptr<const FeatureFile> open(
      const std::filesystem::path& path,
      std::uint64_t key,
      const FeatureLayout& layout,
      std::string& why);

  FeatureFile(MappedFile file, FeatureAbout about);

  const FeatureAbout& about() const {
    return about_;
  }
  // False for a sample that could not be read.
  bool has(std::int64_t index) const;
  const float* values(std::int64_t index) const;
  const void* target(std::int64_t index) const;

 private:
  const std::uint8_t* record(std::int64_t index) const;

  MappedFile file_;
  FeatureAbout about_;
};

// The description that a file holds of itself; its features are not read. No
// value when it is not such a file.
std::optional<FeatureAbout> read_feature_about(
    const std::filesystem::path& path);

} // namespace temper::data
