#include "temper/data/source/tfrecord_source.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/data/format/tf_example.h"
#include "temper/data/format/tfrecord.h"

namespace temper::data {
namespace {

using Features = std::vector<TfFeature>;
using Keys = std::initializer_list<std::string_view>;

std::optional<std::int64_t> first_int(const Features& features, Keys keys) {
  for (const std::string_view key : keys)
    if (const auto value = single_int(features, key)) return value;
  return std::nullopt;
}

std::optional<Bytes> find_image(const Features& features) {
  for (const std::string_view key : {"image/encoded", "image", "image_raw"})
    if (const auto value = single_bytes(features, key)) return value;
  return std::nullopt;
}

void copy_raw(Bytes pixels, const Features& features, Image& image) {
  const auto height = first_int(features, {"height", "image/height"});
  const auto width = first_int(features, {"width", "image/width"});
  const auto depth =
      first_int(features, {"depth", "channels", "image/channels"}).value_or(3);
  const auto size = static_cast<std::int64_t>(pixels.size());
  if (!height || !width)
    throw BadSample("it is not an encoded image, and has no height and width");
  // Bounded by the bytes that are there before they are multiplied.
  const bool sound = *height > 0 && *width > 0 && (depth == 1 || depth == 3) &&
      *height <= size && *width <= size / *height &&
      *height * *width * depth == size;
  if (!sound)
    throw BadSample(
        cat(count_text(size),
            " raw bytes are not ",
            *height,
            " × ",
            *width,
            " pixels of depth ",
            depth));
  image.reshape(static_cast<int>(*width), static_cast<int>(*height), 3);
  if (depth == 3) {
    std::memcpy(image.pixels(), pixels.data(), pixels.size());
    return;
  }
  std::uint8_t* to = image.pixels();
  for (const std::uint8_t grey : pixels)
    for (int channel = 0; channel < 3; ++channel)
      *to++ = grey;
}

void index_records(Bytes bytes, std::uint32_t shard, ShardIndex& index) {
  for (const TfRecord& record : read_tfrecord_index(bytes)) {
    ShardEntry entry;
    entry.offset = record.offset;
    entry.bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(record.bytes, UINT32_MAX - kTfChecksumBytes));
    entry.shard = shard;
    try {
      const auto label =
          label_of_tf_example(bytes.subspan(record.offset, record.bytes));
      entry.label = kept_label(label.value_or(-1));
    } catch (const BadSample&) {
      // Reading the sample finds it again, and says so.
      entry.label = ShardEntry::kNoLabel;
    }
    index.entries.push_back(entry);
  }
}

// The classes' names as TensorFlow Datasets writes them: one name a line.
std::vector<std::string> names_beside(const std::string& shard) {
  const auto path =
      std::filesystem::path(shard).parent_path() / "label.labels.txt";
  const auto text = read_small_file(path);
  if (!text) return {};
  std::vector<std::string> names;
  for (const std::string& line : temper::split(trim(*text), '\n'))
    names.emplace_back(trim(line));
  return names;
}

void decode_record(
    const ShardEntry&,
    const WindowChooser* chooser,
    Sample& sample) {
  decode_tf_example(checked_tfrecord(sample.encoded), chooser, sample);
}

constexpr ShardFormat kTfRecord{
    "tfrecord",
    "record",
    "A record is a tf.Example with image/encoded or image, and "
    "image/class/label or label.",
    kTfChecksumBytes,
    index_records,
    decode_record,
    names_beside};

} // namespace

std::optional<std::int64_t> label_of_tf_example(Bytes message) {
  return first_int(parse_tf_example(message), {"image/class/label", "label"});
}

void decode_tf_example(
    Bytes message,
    const WindowChooser* chooser,
    Sample& sample) {
  const Features features = parse_tf_example(message);
  const auto image = find_image(features);
  if (!image)
    throw BadSample("it has no feature image/encoded, image or image_raw");
  const auto label = first_int(features, {"image/class/label", "label"});
  if (!label) throw BadSample("it has no feature image/class/label or label");
  if (*label < 0 || *label >= kMostClasses)
    throw BadSample(cat("its label is ", *label));
  sample.label = *label;
  if (sniff_image(*image) == ImageFormat::unknown)
    copy_raw(*image, features, sample.image);
  else
    decode_sample(*image, chooser, sample);
}

const ShardFormat& tfrecord_format() {
  return kTfRecord;
}

Splits open_tfrecord(const std::string& pattern, const OpenOptions& options) {
  return open_shards(kTfRecord, pattern, options);
}

} // namespace temper::data
