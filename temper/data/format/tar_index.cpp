#include "temper/data/format/tar_index.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/format/tar_header.h"

namespace temper::data {
namespace {

// The most bytes of a long name or a pax record; paths are a few kilobytes at
// most.
constexpr std::uint64_t kMostExtra = std::uint64_t{1} << 20;

// Where the fields of a header are: POSIX.1-1988, "ustar".
struct IndexField {
  std::size_t at;
  std::size_t size;
};
constexpr IndexField kName{0, 100};
constexpr IndexField kSize{124, 12};
constexpr IndexField kSum{148, 8};
constexpr std::size_t kType = 156;
constexpr IndexField kMagic{257, 6};
constexpr IndexField kPrefix{345, 155};

std::string_view text_from(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Up to the first NUL.
std::string_view text_at(Bytes header, IndexField field) {
  const auto text = text_from(header.subspan(field.at, field.size));
  return text.substr(0, text.find('\0'));
}

std::optional<std::uint64_t> number_at(Bytes header, IndexField field) {
  const Bytes bytes = header.subspan(field.at, field.size);
  std::uint64_t value = 0;
  if ((bytes[0] & 0x80) != 0) { // GNU: big-endian binary behind a set bit
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | (i == 0 ? bytes[i] & 0x7F : bytes[i]);
    }
    return value;
  }
  const std::string_view digits = trim(text_at(header, field));
  for (const char digit : digits) {
    if (digit < '0' || digit > '7' || value >> 60 != 0) return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

bool is_zero(Bytes block) {
  return std::all_of(
      block.begin(), block.end(), [](std::uint8_t b) { return b == 0; });
}

// The sum counts its own field as blanks; old programs summed signed bytes.
bool header_sum_fits(Bytes header) {
  const auto wanted = number_at(header, kSum);
  std::int64_t plain = 0;
  std::int64_t with_sign = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool own = i >= kSum.at && i < kSum.at + kSum.size;
    const std::uint8_t byte = own ? ' ' : header[i];
    plain += byte;
    with_sign += static_cast<std::int8_t>(byte);
  }
  return wanted &&
      (*wanted == static_cast<std::uint64_t>(plain) ||
       *wanted == static_cast<std::uint64_t>(with_sign));
}

std::string name_of(Bytes header) {
  const std::string_view name = text_at(header, kName);
  const std::string_view prefix = text_at(header, kPrefix);
  const bool ustar = text_from(header.subspan(kMagic.at, kMagic.size)) ==
      std::string_view("ustar\0", 6);
  if (!ustar || prefix.empty()) return std::string(name);
  return cat(prefix, "/", name);
}

// The records that precede a header and replace some of it.
struct Extra {
  std::optional<std::string> name;
  std::optional<std::uint64_t> bytes;
};

// Records of pax: "27 path=some/long/name\n", the length counting itself.
void read_pax(std::string_view records, Extra& extra) {
  while (!records.empty()) {
    const auto blank = records.find(' ');
    const auto length = blank == std::string_view::npos
        ? std::nullopt
        : parse_int(records.substr(0, blank));
    if (!length || *length < static_cast<std::int64_t>(blank) + 2 ||
        *length > static_cast<std::int64_t>(records.size()))
      throw Error("a damaged pax record");
    const auto record = records.substr(
        blank + 1, static_cast<std::size_t>(*length) - blank - 2);
    records.remove_prefix(static_cast<std::size_t>(*length));
    if (starts_with(record, "path=")) {
      extra.name = record.substr(5);
    } else if (starts_with(record, "size=")) {
      const auto bytes = parse_int(record.substr(5));
      if (!bytes || *bytes < 0) throw Error("a damaged pax record");
      extra.bytes = static_cast<std::uint64_t>(*bytes);
    }
  }
}

class Walker {
 public:
  explicit Walker(Bytes tar) : tar_(tar) {}

  std::vector<TarMember> walk() {
    while (position_ < tar_.size()) {
      if (tar_.size() - position_ < kTarBlock) fail("a header is cut off");
      const Bytes header = tar_.subspan(position_, kTarBlock);
      if (is_zero(header)) break;
      if (!header_sum_fits(header))
        fail(
            position_ == 0 ? "it is not a tar archive"
                           : "a header's checksum does not fit");
      step(header);
    }
    return std::move(members_);
  }

 private:
  [[noreturn]] void fail(const char* why) const {
    throw Error(
        position_ == 0 ? std::string(why)
                       : cat(why,
                             " at byte ",
                             count_text(static_cast<std::int64_t>(position_))));
  }

  void step(Bytes header) {
    const char type = static_cast<char>(header[kType]);
    const auto stated = number_at(header, kSize);
    if (!stated) fail("a header without a size");
    const bool about_next =
        type == 'x' || type == 'g' || type == 'L' || type == 'K';
    // Links, devices and folders have a size at times, but no contents.
    const bool hollow = type >= '1' && type <= '6';
    const std::uint64_t bytes = hollow ? 0
        : about_next                   ? *stated
                                       : extra_.bytes.value_or(*stated);
    const std::uint64_t begin = position_ + kTarBlock;
    if (bytes > tar_.size() - begin) fail("a member is cut off");
    const Bytes contents = tar_.subspan(begin, bytes);
    if (about_next) {
      if (bytes > kMostExtra) fail("an absurdly long name");
      read_extra(type, contents);
    } else {
      if (type == 'S') fail("a sparse member, which is not supported,");
      add(header, type, begin, bytes);
      extra_ = {};
    }
    const std::uint64_t blocks = (bytes + kTarBlock - 1) / kTarBlock;
    position_ =
        std::min<std::uint64_t>(begin + blocks * kTarBlock, tar_.size());
  }

  void read_extra(char type, Bytes contents) {
    const std::string_view text = text_from(contents);
    if (type == 'x') read_pax(text, extra_);
    if (type == 'L') extra_.name = text.substr(0, text.find('\0'));
    // A global record sets what no single member has; a link's name is of no
    // interest.
  }

  void add(Bytes header, char type, std::uint64_t begin, std::uint64_t bytes) {
    if (type != '0' && type != '\0' && type != '7') return;
    std::string name = extra_.name ? *extra_.name : name_of(header);
    if (name.empty() || name.back() == '/') return;
    members_.push_back({std::move(name), begin, bytes});
  }

  Bytes tar_;
  std::uint64_t position_ = 0;
  Extra extra_;
  std::vector<TarMember> members_;
};

} // namespace

std::vector<TarMember> read_tar_index(Bytes tar) {
  return Walker(tar).walk();
}

} // namespace temper::data
