#include "temper/data/format/name_list.h"

#include <cstring>

namespace temper::data {

const char* NameList::keep(std::string_view text) {
  const std::size_t bytes = text.size() + 1;
  char* to = nullptr;
  if (bytes > kBlock) {
    // A block of its own, before the one that is being filled.
    auto own = std::make_unique<char[]>(bytes);
    to = own.get();
    blocks_.insert(blocks_.begin(), std::move(own));
  } else {
    if (bytes > kBlock - used_) {
      blocks_.push_back(std::make_unique<char[]>(kBlock));
      used_ = 0;
    }
    to = blocks_.back().get() + used_;
    used_ += bytes;
  }
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return to;
}

} // namespace temper::data
