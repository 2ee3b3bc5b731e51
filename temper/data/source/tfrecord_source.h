// TFRecord shards of tf.Examples: `tfrecord:cifar10-train.tfrecord*`. The
// image is `image/encoded`, `image` or `image_raw` (encoded, or raw bytes with
// height, width and depth), the class `image/class/label` or `label`, as
// TensorFlow Datasets and the ImageNet scripts write them. Class names come
// from label.labels.txt beside the shards, where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"
#include "temper/data/source/shard_source.h"

namespace temper::data {

// The label of a tf.Example; no value when it has none. Throws BadSample.
std::optional<std::int64_t> label_of_tf_example(Bytes message);
// Fills the image, or the chosen window of it. Throws BadSample with the bare
// reason.
void decode_tf_example(
    Bytes message,
    const WindowChooser* chooser,
    Sample& sample);

const ShardFormat& tfrecord_format();

Splits open_tfrecord(const std::string& pattern, const OpenOptions& options);

} // namespace temper::data
