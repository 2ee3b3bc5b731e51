// WebDataset shards: `tar:data-{000..009}.tar`. Members next to each other
// whose path is the same up to the first dot of the name are one sample: an
// image, and its class in .cls, .json or .txt. The tar is not unpacked: an
// index of where the samples are gives any of them at once.
#pragma once

#include <memory>
#include <string>

#include "temper/data/name_list.h"
#include "temper/data/open.h"
#include "temper/data/shards.h"
#include "temper/data/source.h"

namespace temper::data {

struct TarIndex : ShardIndex {
  NameList names; // of the images
};

// Error, naming the shard, when one is damaged or none has a sample.
TarIndex index_tars(const std::vector<std::string>& shards);

class TarSource final : public IndexedSource {
 public:
  TarSource(TarIndex index, SourceInfo info);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(index_.entries.size());
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override {
    return fingerprint_;
  }

 private:
  const ShardEntry& entry(std::int64_t index) const;

  TarIndex index_;
  SourceInfo info_;
  std::uint64_t fingerprint_;
};

Splits open_tar(const std::string& pattern, const OpenOptions& options);

} // namespace temper::data
