// CRC-32C (Castagnoli), the checksum of TFRecord and TensorBoard files. zlib
// has only the other one.
#pragma once

#include <cstdint>
#include <span>

namespace temper {

std::uint32_t crc32c(std::span<const std::uint8_t> bytes);

// The masked form that TFRecord stores, so that a sum over data with sums in it
// stays sound.
constexpr std::uint32_t mask_crc32c(std::uint32_t crc) {
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

} // namespace temper
