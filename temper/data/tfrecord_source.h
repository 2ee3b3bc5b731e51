// TFRecord shards of tf.Examples: `tfrecord:cifar10-train.tfrecord*`. The
// image is `image/encoded`, `image` or `image_raw` (encoded, or raw bytes with
// height, width and depth), the class `image/class/label` or `label`, as
// TensorFlow Datasets and the ImageNet scripts write them. Class names come
// from label.labels.txt beside the shards, where it is.
#pragma once

#include <cstdint>
#include <string>

#include "temper/data/open.h"
#include "temper/data/shards.h"
#include "temper/data/source.h"

namespace temper::data {

// The label of a tf.Example; nothing when it has none. Throws BadSample.
std::optional<std::int64_t> label_of_tf_example(Bytes message);
// Fills the image. Throws BadSample with the bare reason.
void decode_tf_example(Bytes message, Sample& sample);

// Error, naming the shard, when one is damaged or none has a label.
ShardIndex index_tfrecords(const std::vector<std::string>& shards);

class TfRecordSource final : public IndexedSource {
 public:
  TfRecordSource(ShardIndex index, SourceInfo info);

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

  ShardIndex index_;
  SourceInfo info_;
  std::uint64_t fingerprint_;
};

Splits open_tfrecord(const std::string& pattern, const OpenOptions& options);

} // namespace temper::data
