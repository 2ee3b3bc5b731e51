#include "temper/data/format/tfrecord.h"

#include "temper/base/byte_order.h"
#include "temper/base/digest/crc32c.h"
#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kHeaderBytes = kLengthBytes + kTfChecksumBytes;

bool record_sum_fits(Bytes bytes, Bytes sum) {
  return read_little_endian<std::uint32_t>(sum.data()) ==
      mask_crc32c(crc32c(bytes));
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
    const std::uint64_t bytes =
        read_little_endian<std::uint64_t>(length.data());
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
