#include "temper/base/file/zip_directory.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

// The directory stands at the end of the file: an end record (PK 5 6) says
// where it begins and how many entries it has, each entry (PK 1 2) where its
// bytes' own header (PK 3 4) is. Numbers that do not fit into 32 bits are in a
// second end record (PK 6 6) and in each entry's extra field 1.
namespace temper {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kHeaderBytes = 30;
constexpr std::uint32_t kElsewhere = 0xffffffff;

std::uint64_t number_at(Bytes file, std::uint64_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= std::uint64_t{file[at + static_cast<std::uint64_t>(i)]} << (8 * i);
  return value;
}

bool fits(Bytes file, std::uint64_t at, std::uint64_t bytes) {
  return at <= file.size() && bytes <= file.size() - at;
}

bool marked(Bytes file, std::uint64_t at, const char* mark) {
  return fits(file, at, 4) && std::memcmp(file.data() + at, mark, 4) == 0;
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
};

std::optional<Directory> find_directory(Bytes file) {
  if (file.size() < kEndBytes) return std::nullopt;
  // A comment of up to 64 KiB may follow the end record.
  const std::uint64_t last = file.size() - kEndBytes;
  const std::uint64_t first = last - std::min<std::uint64_t>(last, 0xffff);
  std::uint64_t end = last;
  while (!marked(file, end, "PK\5\6")) {
    if (end == first) return std::nullopt;
    --end;
  }
  Directory directory{
      number_at(file, end + 16, 4), number_at(file, end + 10, 2)};
  if (directory.offset != kElsewhere && directory.entries != 0xffff)
    return directory;
  if (end < 20 || !marked(file, end - 20, "PK\6\7")) return directory;
  const std::uint64_t large = number_at(file, end - 12, 8);
  if (!fits(file, large, 56) || !marked(file, large, "PK\6\6"))
    return std::nullopt;
  return Directory{
      number_at(file, large + 48, 8), number_at(file, large + 32, 8)};
}

// Sizes and offset that did not fit, in this order and only those.
bool take_large_numbers(
    Bytes file,
    std::uint64_t extra,
    std::uint64_t extra_bytes,
    ZipPlace& place) {
  const std::uint64_t end = extra + extra_bytes;
  while (end - extra >= 4) {
    const std::uint64_t id = number_at(file, extra, 2);
    const std::uint64_t size = number_at(file, extra + 2, 2);
    extra += 4;
    if (size > end - extra) return false;
    if (id == 1) {
      std::uint64_t at = extra;
      for (auto* value :
           {&place.bytes, &place.packed_bytes, &place.header_offset}) {
        if (*value != kElsewhere) continue;
        if (extra + size - at < 8) return false;
        *value = number_at(file, at, 8);
        at += 8;
      }
      return true;
    }
    extra += size;
  }
  return true;
}

} // namespace

std::optional<std::vector<ZipPlace>> zip_places(Bytes file) {
  const auto directory = find_directory(file);
  if (!directory || directory->entries > file.size() / kEntryBytes)
    return std::nullopt;
  std::vector<ZipPlace> places;
  places.reserve(directory->entries);
  std::uint64_t at = directory->offset;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    if (!fits(file, at, kEntryBytes) || !marked(file, at, "PK\1\2"))
      return std::nullopt;
    ZipPlace place;
    place.packed_bytes = number_at(file, at + 20, 4);
    place.bytes = number_at(file, at + 24, 4);
    place.header_offset = number_at(file, at + 42, 4);
    const std::uint64_t name_bytes = number_at(file, at + 28, 2);
    const std::uint64_t extra_bytes = number_at(file, at + 30, 2);
    const std::uint64_t comment_bytes = number_at(file, at + 32, 2);
    at += kEntryBytes;
    if (!fits(file, at, name_bytes + extra_bytes + comment_bytes))
      return std::nullopt;
    place.name.assign(
        reinterpret_cast<const char*>(file.data()) + at, name_bytes);
    if (!take_large_numbers(file, at + name_bytes, extra_bytes, place))
      return std::nullopt;
    at += name_bytes + extra_bytes + comment_bytes;

    const std::uint64_t header = place.header_offset;
    if (!fits(file, header, kHeaderBytes) || !marked(file, header, "PK\3\4"))
      return std::nullopt;
    place.data_offset = header + kHeaderBytes +
        number_at(file, header + 26, 2) + number_at(file, header + 28, 2);
    if (!fits(file, place.data_offset, place.packed_bytes)) return std::nullopt;
    places.push_back(std::move(place));
  }
  return places;
}

std::uint32_t zip_checksum(std::span<const std::uint8_t> bytes) {
  uLong crc = ::crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const auto piece =
        bytes.first(std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    crc = ::crc32(crc, piece.data(), static_cast<uInt>(piece.size()));
    bytes = bytes.subspan(piece.size());
  }
  return static_cast<std::uint32_t>(crc);
}

} // namespace temper
