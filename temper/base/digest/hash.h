// XXH3, for checksums and fingerprints: fast, not cryptographic.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace temper {

std::uint64_t hash64(const void* data, std::size_t bytes);
std::uint64_t hash64(std::string_view text);

// The hash of what is added, in pieces of any size.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void add(const void* data, std::size_t bytes);
  // Adds a text with its length, so that ("ab", "c") and ("a", "bc") differ.
  void add(std::string_view text);
  void add(std::uint64_t number);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace temper
