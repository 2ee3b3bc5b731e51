#include "temper/data/format/tfrecord.h"

#include "temper/base/digest/crc32c.h"
#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kHeaderBytes = kLengthBytes + kTfChecksumBytes;

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

bool record_sum_fits(Bytes bytes, Bytes sum) {
  return little_endian(sum) == mask_crc32c(crc32c(bytes));
}

[[noreturn]] void refuse_at(const char* why, std::uint64_t position) {
  throw Error(
      cat(why, " at byte ", count_text(static_cast<std::int64_t>(position))));
}

} // namespace

std::vector<TfRecord> read_tfrecord_index(Bytes file) {
  std::vector<TfRecord> records;
  std::uint64_t position = 0;
  while (position < file.size()) {
    const std::uint64_t left = file.size() - position;
    if (left < kHeaderBytes + kTfChecksumBytes)
      refuse_at("a record is cut off", position);
    const Bytes length = file.subspan(position, kLengthBytes);
    if (!record_sum_fits(
            length, file.subspan(position + kLengthBytes, kTfChecksumBytes))) {
      if (position == 0) throw Error("it is not a TFRecord file");
      refuse_at("a length does not fit its checksum", position);
    }
    const std::uint64_t bytes = little_endian(length);
    if (bytes > left - kHeaderBytes - kTfChecksumBytes)
      refuse_at("a record is cut off", position);
    records.push_back({position + kHeaderBytes, bytes});
    position += kHeaderBytes + bytes + kTfChecksumBytes;
  }
  return records;
}

Bytes checked_tfrecord(Bytes data_and_checksum) {
  if (data_and_checksum.size() < kTfChecksumBytes)
    throw BadSample("the record has no checksum");
  const std::size_t bytes = data_and_checksum.size() - kTfChecksumBytes;
  const Bytes data = data_and_checksum.first(bytes);
  if (!record_sum_fits(data, data_and_checksum.subspan(bytes)))
    throw BadSample("the record does not fit its checksum");
  return data;
}

} // namespace temper::data
