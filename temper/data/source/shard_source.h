// Samples in shards, files that each hold many of them one after the other: an
// index of where they are gives any of them at once, and a shard is open only
// while one of its samples is read. A ShardFormat is all that differs between
// tar and tfrecord.
// Private to data/source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/data/codec/decode.h"
#include "temper/data/content/content.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"
#include "temper/data/source/shards.h"

namespace temper::data {

struct ShardFormat {
  const char* name; // "tar"
  const char* item; // what a sample is called in messages: "image"
  const char* sample_hint; // what a labelled sample looks like
  // Bytes to read behind each sample: its checksum.
  std::uint64_t trailer_bytes;
  // Adds the samples of one shard. Error, with the bare reason, when it is
  // damaged.
  void (*index)(Bytes shard, std::uint32_t number, ShardIndex& index);
  // Decodes sample.encoded. Throws BadSample with the bare reason.
  void (*decode)(
      const ShardEntry& entry,
      const WindowChooser* chooser,
      Sample& sample);
  // Names of the classes from beside the first shard; null: there are none.
  std::vector<std::string> (*class_names)(const std::string& shard);
};

// Error, naming the shard, when one is damaged or none has a label.
ShardIndex index_shards(
    const ShardFormat& format,
    const std::vector<std::string>& shards);

class ShardSource final : public IndexedSource {
 public:
  ShardSource(const ShardFormat& format, ShardIndex index, SourceInfo info);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(index_.entries.size());
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

 private:
  // All of the image without a chooser.
  void fill(std::int64_t index, const WindowChooser* chooser, Sample& sample)
      const;
  const ShardEntry& entry(std::int64_t index) const;

  const ShardFormat& format_; // one of the few there are
  ShardIndex index_;
  SourceInfo info_;
  std::uint64_t index_print_;
  Content content_;
};

Splits open_shards(
    const ShardFormat& format,
    const std::string& pattern,
    const OpenOptions& options);

} // namespace temper::data
