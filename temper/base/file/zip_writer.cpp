#include "temper/base/file/zip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/file/zip_directory.h"

namespace temper {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kLargest32 = 0xffffffff;
constexpr std::uint64_t kMost16 = 0xffff;
constexpr std::uint16_t kPaddingId = 0x4246; // "FB", as PyTorch pads

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string small(std::uint64_t value) {
  return number(std::min(value, kLargest32), 4);
}

// The part that an entry's header and its line in the directory share: version
// 4.5 for large entries, names in UTF-8, stored, the first of January 1980.
std::string shared(
    std::uint64_t bytes,
    std::uint32_t crc,
    std::uint64_t name_bytes,
    std::uint64_t extra_bytes) {
  return number(bytes >= kLargest32 ? 45 : 20, 2) + number(0x0800, 2) +
      number(0, 2) + number(0, 2) + number(0x21, 2) + number(crc, 4) +
      small(bytes) + small(bytes) + number(name_bytes, 2) +
      number(extra_bytes, 2);
}

} // namespace

void ZipWriter::add(
    const std::string& name,
    const void* data,
    std::size_t bytes) {
  check(name.size() <= kMost16, "an entry's name is short");
  Entry entry{
      name,
      bytes,
      file_.size(),
      zip_checksum({static_cast<const std::uint8_t*>(data), bytes})};
  std::string extra;
  if (entry.bytes >= kLargest32)
    extra = number(1, 2) + number(16, 2) + number(bytes, 8) + number(bytes, 8);
  // The header itself has 30 bytes, a padding field at least 4.
  const std::uint64_t start =
      entry.offset + 30 + name.size() + extra.size() + 4;
  const std::uint64_t padding = (kAlignment - start % kAlignment) % kAlignment;
  extra +=
      number(kPaddingId, 2) + number(padding, 2) + std::string(padding, 'Z');
  file_.write(
      "PK\3\4" + shared(entry.bytes, entry.crc, name.size(), extra.size()) +
      name + extra);
  file_.write(data, bytes);
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const std::uint64_t start = file_.size();
  for (const Entry& entry : entries_) {
    std::string large;
    if (entry.bytes >= kLargest32)
      large += number(entry.bytes, 8) + number(entry.bytes, 8);
    if (entry.offset >= kLargest32) large += number(entry.offset, 8);
    if (!large.empty()) large.insert(0, number(1, 2) + number(large.size(), 2));
    file_.write(
        "PK\1\2" + number(large.empty() ? 20 : 45, 2) +
        shared(entry.bytes, entry.crc, entry.name.size(), large.size()) +
        std::string(10, '\0') + small(entry.offset) + entry.name + large);
  }
  const std::uint64_t bytes = file_.size() - start;
  const std::uint64_t count = entries_.size();
  if (start >= kLargest32 || bytes >= kLargest32 || count >= kMost16) {
    const std::uint64_t end = file_.size();
    file_.write(
        "PK\6\6" + number(44, 8) + number(45, 2) + number(45, 2) +
        std::string(8, '\0') + number(count, 8) + number(count, 8) +
        number(bytes, 8) + number(start, 8));
    file_.write("PK\6\7" + number(0, 4) + number(end, 8) + number(1, 4));
  }
  const std::string entries = number(std::min(count, kMost16), 2);
  file_.write(
      "PK\5\6" + std::string(4, '\0') + entries + entries + small(bytes) +
      small(start) + number(0, 2));
  file_.commit();
}

} // namespace temper
