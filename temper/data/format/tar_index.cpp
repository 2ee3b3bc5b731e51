#include "temper/data/format/tar_index.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/format/tar_header.h"

namespace temper::data {
namespace {

class Walker {
 public:
  explicit Walker(Bytes tar) : tar_(tar) {}

  std::vector<TarMember> walk() {
    while (position_ < tar_.size()) {
      if (tar_.size() - position_ < kTarBlock) fail("a header is cut off");
      const TarBlock block(tar_.data() + position_, kTarBlock);
      if (is_empty_block(block)) break;
      const auto header = headers_.next(block);
      if (!header)
        fail(
            position_ == 0 ? "it is not a tar archive"
                           : "a header's checksum does not fit");
      step(*header);
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

  void step(const TarHeader& header) {
    if (!header.size) fail("a header without a size");
    const std::uint64_t bytes = *header.size;
    const std::uint64_t begin = position_ + kTarBlock;
    if (bytes > tar_.size() - begin) fail("a member is cut off");
    if (header.is_note()) {
      if (bytes > kMostTarNote) fail("an absurdly long name");
      const std::string_view contents(
          reinterpret_cast<const char*>(tar_.data()) + begin, bytes);
      if (!headers_.take_note(header, contents))
        throw Error("a damaged pax record");
    } else {
      if (header.type == 'S') fail("a sparse member, which is not supported,");
      add(header, begin, bytes);
    }
    position_ =
        std::min<std::uint64_t>(begin + whole_blocks(bytes), tar_.size());
  }

  void add(const TarHeader& header, std::uint64_t begin, std::uint64_t bytes) {
    if (!header.is_file()) return;
    if (header.name.empty() || header.name.back() == '/') return;
    members_.push_back({header.name, begin, bytes});
  }

  Bytes tar_;
  std::uint64_t position_ = 0;
  TarHeaders headers_;
  std::vector<TarMember> members_;
};

} // namespace

std::vector<TarMember> read_tar_index(Bytes tar) {
  return Walker(tar).walk();
}

} // namespace temper::data
