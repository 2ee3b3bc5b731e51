#include "temper/base/digest/crc32c.h"

#include <array>
#include <cstddef>

namespace temper {
namespace {

using Table = std::array<std::uint32_t, 256>;

// Table k advances a byte by k further bytes, so that eight of them are looked
// up at once ("slicing by eight").
constexpr std::array<Table, 8> make_tables() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78; // bits reversed
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  return tables;
}

constexpr auto kTables = make_tables();

} // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const std::uint8_t* b = bytes.data() + at;
    crc = kTables[7][b[0] ^ (crc & 0xFF)] ^
        kTables[6][b[1] ^ (crc >> 8 & 0xFF)] ^
        kTables[5][b[2] ^ (crc >> 16 & 0xFF)] ^ kTables[4][b[3] ^ (crc >> 24)] ^
        kTables[3][b[4]] ^ kTables[2][b[5]] ^ kTables[1][b[6]] ^
        kTables[0][b[7]];
  }
  for (; at < bytes.size(); ++at)
    crc = (crc >> 8) ^ kTables[0][(crc ^ bytes[at]) & 0xFF];
  return ~crc;
}

} // namespace temper
