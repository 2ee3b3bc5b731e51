// TFRecord files, and the tf.Examples in them. A mutant rarely keeps its
// checksums, so the messages are also tried without their wrapping.
#include "temper/data/format/tfrecord.h"

#include "input_file.h"
#include "target.h"
#include "temper/data/format/tf_example.h"
#include "temper/data/source/tfrecord_source.h"

namespace {

std::uint32_t masked_crc(const std::string& data) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

std::string field(int number, const std::string& data) { // shorter than 128
  return std::string{
             static_cast<char>(number << 3 | 2),
             static_cast<char>(data.size())} +
      data;
}

std::string example() {
  const std::string image = "P6 2 2 255\n" + std::string(12, 'p');
  const std::string picture =
      field(1, "image") + field(2, field(1, field(1, image)));
  const std::string label =
      field(1, "label") + field(2, field(3, field(1, "\3")));
  return field(1, field(1, picture) + field(1, label));
}

std::string record(const std::string& data) {
  using temper::fuzz::little_endian;
  const std::string length = little_endian<std::uint64_t>(data.size());
  return length + little_endian(masked_crc(length)) + data +
      little_endian(masked_crc(data));
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {record(example()), record(example()) + record(example()), example()};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper::data;
  Sample sample;
  try {
    for (const auto& feature : parse_tf_example({data, size})) {
      switch (feature.kind) {
        case TfFeature::Kind::bytes:
          byte_values(feature);
          break;
        case TfFeature::Kind::floats:
          float_values(feature);
          break;
        case TfFeature::Kind::ints:
          int_values(feature);
          break;
        case TfFeature::Kind::none:
          break;
      }
    }
    label_of_tf_example({data, size});
    decode_tf_example({data, size}, nullptr, sample);
  } catch (const BadSample&) {
  }
  static temper::fuzz::InputFile file(".tfrecord");
  try {
    auto index =
        index_shards(tfrecord_format(), {file.write(data, size).string()});
    auto info = describe_shards("tfrecord:input", index, {});
    const ShardSource source(
        tfrecord_format(), std::move(index), std::move(info));
    for (std::int64_t i = 0; i < source.size(); ++i)
      try {
        source.read(i, sample);
      } catch (const BadSample&) {
      }
  } catch (const temper::Error&) {
  }
  return 0;
}
