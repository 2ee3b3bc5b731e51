#include "temper/data/format/idx.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "temper/base/byte_order.h"
#include "temper/base/error.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"
#include "temper/data/format/gzip.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostIdxDimensions = 8;
constexpr std::size_t kLongestIdxHeader = 4 + 4 * kMostIdxDimensions;

[[noreturn]] void refuse_idx(const std::string& name, const std::string& why) {
  throw Error(
      cat("[data] cannot read ", name, " as IDX: ", why, "."),
      "Fetch the file again.");
}

struct TypeRow {
  std::uint8_t code;
  IdxType type;
  std::uint64_t bytes;
};
constexpr std::array<TypeRow, 6> kTypes{{
    {0x08, IdxType::u8, 1},
    {0x09, IdxType::i8, 1},
    {0x0B, IdxType::i16, 2},
    {0x0C, IdxType::i32, 4},
    {0x0D, IdxType::f32, 4},
    {0x0E, IdxType::f64, 8},
}};

IdxArray unpack_idx(
    std::span<const std::uint8_t> packed,
    const std::string& name) {
  std::array<std::uint8_t, kLongestIdxHeader> front{};
  std::size_t known = 0;
  {
    GzipReader reader(packed, name);
    known = reader.read(front.data(), front.size());
  }
  IdxArray array;
  array.header = parse_idx_header({front.data(), known}, name);
  const std::uint64_t total =
      array.header.header_bytes + array.header.data_bytes;
  if (total / kDeflateLimit > packed.size())
    refuse_idx(
        name,
        cat("its header announces ",
            bytes_text(total),
            ", more than ",
            bytes_text(packed.size()),
            " can unpack to"));
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(total);
  GzipReader reader(packed, name);
  const std::size_t got = reader.read(bytes->data(), bytes->size());
  std::uint8_t extra = 0;
  if (got < total)
    refuse_idx(
        name,
        cat("it ends after ",
            count_text(static_cast<std::int64_t>(got)),
            " of ",
            count_text(static_cast<std::int64_t>(total)),
            " bytes"));
  if (reader.read(&extra, 1) > 0)
    refuse_idx(name, "it goes on after its last number");
  array.data =
      std::span<const std::uint8_t>(*bytes).subspan(array.header.header_bytes);
  array.owner = bytes;
  return array;
}

} // namespace

IdxHeader parse_idx_header(
    std::span<const std::uint8_t> file,
    const std::string& name) {
  if (file.size() < 4 || file[0] != 0 || file[1] != 0)
    refuse_idx(name, "it does not begin with two zero bytes and a type");
  const auto* row =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& candidate) {
        return candidate.code == file[2];
      });
  if (row == kTypes.end())
    refuse_idx(name, cat("type ", int{file[2]}, " is none"));
  const std::size_t dimensions = file[3];
  if (dimensions == 0 || dimensions > kMostIdxDimensions)
    refuse_idx(
        name, cat(dimensions, " dimensions are not 1 to ", kMostIdxDimensions));
  IdxHeader header;
  header.type = row->type;
  header.header_bytes = 4 + 4 * dimensions;
  if (file.size() < header.header_bytes)
    refuse_idx(name, "its header is cut short");
  header.data_bytes = row->bytes;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::uint32_t size =
        read_big_endian<std::uint32_t>(file.data() + 4 + 4 * i);
    header.shape.push_back(size);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
    if (size > 0 && header.data_bytes > kMost / size)
      refuse_idx(name, "its sizes are impossibly large");
    header.data_bytes *= size;
  }
  return header;
}

IdxArray read_idx(const std::filesystem::path& path) {
  auto file = std::make_shared<MappedFile>(path);
  if (is_gzip(file->bytes())) return unpack_idx(file->bytes(), path.string());
  IdxArray array;
  array.header = parse_idx_header(file->bytes(), path.string());
  const std::uint64_t there = file->size() - array.header.header_bytes;
  if (there != array.header.data_bytes)
    refuse_idx(
        path.string(),
        cat("its header announces ",
            count_text(static_cast<std::int64_t>(array.header.data_bytes)),
            " bytes of numbers, and there are ",
            count_text(static_cast<std::int64_t>(there))));
  file->expect_random_access();
  array.data = file->bytes().subspan(array.header.header_bytes);
  array.owner = file;
  return array;
}

} // namespace temper::data
