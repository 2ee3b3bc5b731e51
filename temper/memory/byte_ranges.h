// A set of addresses as ranges that do not touch. Used by the heap to know
// which of its memory was ever written to.
// Private to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace temper::memory {

class ByteRanges {
 public:
  // Both return how many bytes changed.
  std::size_t add(char* at, std::size_t bytes);
  std::size_t remove(char* at, std::size_t bytes);
  std::size_t overlap(char* at, std::size_t bytes) const;

  std::uint64_t bytes() const {
    return bytes_;
  }

 private:
  using Ranges = std::map<char*, char*>; // begin, end
  Ranges::const_iterator first_behind(const char* at) const;

  Ranges ranges_;
  std::uint64_t bytes_ = 0;
};

} // namespace temper::memory
