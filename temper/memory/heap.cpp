#include "temper/memory/heap.h"

#include <algorithm>
#include <iterator>

#include "temper/base/large_memory.h"

namespace temper::memory {
namespace {

// Addresses cost nothing until they are written to: a region is as large as the
// machine's memory, so that all tensors of a run lie in one, where free
// neighbours can be joined.
std::size_t region_bytes() {
  return round_to_large_pages(installed_memory());
}

} // namespace

Heap::~Heap() {
  for (const auto& [at, bytes] : regions_)
    release_addresses(at, bytes);
}

bool Heap::begins_region(const char* at) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const auto& each) {
    return each.first == at;
  });
}

bool Heap::grow(std::size_t bytes) {
  std::size_t size = std::max(region_bytes(), round_to_large_pages(bytes));
  void* fresh = reserve_addresses(size);
  while (fresh == nullptr && size / 2 >= bytes) { // where they are limited
    size = round_to_large_pages(size / 2);
    fresh = reserve_addresses(size);
  }
  if (fresh == nullptr) return false;
  wish_large_pages(fresh, size);
  auto* at = static_cast<char*>(fresh);
  regions_.emplace_back(at, size);
  add(at, size);
  return true;
}

void Heap::add(char* at, std::size_t bytes) {
  free_[at] = bytes;
  by_size_.emplace(bytes, at);
}

void Heap::remove(char* at, std::size_t bytes) {
  by_size_.erase({bytes, at});
  free_.erase(at);
}

Heap::Taken Heap::take(std::size_t bytes) {
  auto best = by_size_.lower_bound({bytes, nullptr});
  if (best == by_size_.end()) {
    if (!grow(bytes)) return {};
    best = by_size_.lower_bound({bytes, nullptr});
  }
  const auto [size, at] = *best;
  remove(at, size);
  if (size > bytes) add(at + bytes, size - bytes);
  live_ += bytes;
  return {at, touched_.add(at, bytes) == 0};
}

void Heap::put(void* memory, std::size_t bytes) {
  live_ -= bytes;
  auto* at = static_cast<char*>(memory);
  const auto after = free_.lower_bound(at);
  if (after != free_.end() && at + bytes == after->first &&
      !begins_region(after->first)) {
    const std::size_t more = after->second;
    remove(after->first, more);
    bytes += more;
  }
  const auto next = free_.lower_bound(at);
  if (next != free_.begin()) {
    const auto [front, size] = *std::prev(next);
    if (front + size == at && !begins_region(at)) {
      remove(front, size);
      at = front;
      bytes += size;
    }
  }
  add(at, bytes);
}

// From the end on: what lies in front is used again first.
void Heap::trim(std::uint64_t keep_bytes) {
  for (auto it = free_.rbegin(); it != free_.rend(); ++it) {
    if (touched_bytes() <= keep_bytes) return;
    if (touched_.remove(it->first, it->second) > 0)
      give_back_pages(it->first, it->second);
  }
}

} // namespace temper::memory
