// SHA-256 (FIPS 180-4), for the pinned checksums of downloads. Where a hash
// need not resist anybody, hash.h is much faster.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace temper {

class Sha256 {
 public:
  void add(const void* data, std::size_t bytes);
  // The digest of everything added so far, as 64 small hexadecimal digits.
  std::string hex() const;

 private:
  void block(const std::uint8_t* at);

  std::array<std::uint32_t, 8> state_{
      0x6a09e667,
      0xbb67ae85,
      0x3c6ef372,
      0xa54ff53a,
      0x510e527f,
      0x9b05688c,
      0x1f83d9ab,
      0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t bytes_ = 0;
};

std::string sha256_hex(std::string_view text);

} // namespace temper
