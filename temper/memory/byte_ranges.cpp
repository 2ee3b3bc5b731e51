#include "temper/memory/byte_ranges.h"

#include <algorithm>
#include <iterator>

namespace temper::memory {

// The first range that ends at `at` or behind it.
ByteRanges::Ranges::const_iterator ByteRanges::first_behind(
    const char* at) const {
  auto it = ranges_.upper_bound(const_cast<char*>(at));
  if (it != ranges_.begin() && std::prev(it)->second >= at) --it;
  return it;
}

std::size_t ByteRanges::overlap(char* at, std::size_t bytes) const {
  char* end = at + bytes;
  std::size_t sum = 0;
  for (auto it = first_behind(at); it != ranges_.end() && it->first < end; ++it)
    sum += static_cast<std::size_t>(
        std::max(at, std::min(it->second, end)) - std::max(it->first, at));
  return sum;
}

std::size_t ByteRanges::add(char* at, std::size_t bytes) {
  const std::size_t fresh = bytes - overlap(at, bytes);
  if (fresh == 0) return 0;
  char* begin = at;
  char* end = at + bytes;
  for (auto it = first_behind(at); it != ranges_.end() && it->first <= end;) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = ranges_.erase(it);
  }
  ranges_[begin] = end;
  bytes_ += fresh;
  return fresh;
}

std::size_t ByteRanges::remove(char* at, std::size_t bytes) {
  const std::size_t gone = overlap(at, bytes);
  if (gone == 0) return 0;
  char* end = at + bytes;
  for (auto it = first_behind(at); it != ranges_.end() && it->first < end;) {
    const auto [from, to] = *it;
    it = ranges_.erase(it);
    if (from < at) ranges_[from] = std::min(to, at);
    if (to > end) ranges_[end] = to;
    if (to > end) break;
  }
  bytes_ -= gone;
  return gone;
}

} // namespace temper::memory
