// Large blocks of memory that are used again: one heap for all of them, where
// neighbours that are free become one, and a block takes the smallest free
// piece it fits into. A step of training takes and gives back the same blocks
// each time, so that its blocks come to lie where they lay before and no more
// pages are touched than the most that was held at once, and little beside. Not
// thread-safe: used by BlockPool.
// Private to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "temper/memory/byte_ranges.h"

namespace temper::memory {

class Heap {
 public:
  Heap() = default;
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  struct Taken {
    void* memory = nullptr; // null: the system has none
    bool again = false; // all of it was there before
  };
  // `bytes` is a multiple of 64, as is every address.
  Taken take(std::size_t bytes);
  void put(void* memory, std::size_t bytes);
  // Gives pages back until about so many bytes of free ones are left.
  void trim(std::uint64_t keep_bytes);

  // Free memory whose pages may still be there.
  std::uint64_t touched_bytes() const {
    return touched_.bytes() - live_;
  }

 private:
  bool grow(std::size_t bytes);
  void add(char* at, std::size_t bytes);
  void remove(char* at, std::size_t bytes);
  bool begins_region(const char* at) const;

  std::map<char*, std::size_t> free_; // by address
  std::set<std::pair<std::size_t, char*>> by_size_;
  std::vector<std::pair<char*, std::size_t>> regions_;
  ByteRanges touched_; // taken once, and not given back since
  std::uint64_t live_ = 0;
};

} // namespace temper::memory
