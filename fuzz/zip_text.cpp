#include "zip_text.h"

#include "target.h"

namespace temper::fuzz {
namespace {

std::uint32_t crc_of(const std::string& data) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

} // namespace

std::string zip_of(
    const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string local;
  std::string central;
  for (const auto& [name, data] : entries) {
    const auto size = static_cast<std::uint32_t>(data.size());
    const std::string common = little_endian<std::uint16_t>(20) +
        std::string(8, '\0') + little_endian(crc_of(data)) +
        little_endian(size) + little_endian(size) +
        little_endian(static_cast<std::uint16_t>(name.size())) +
        std::string(2, '\0');
    central += std::string("PK\1\2\x14\0", 6) + common + std::string(10, '\0') +
        little_endian(static_cast<std::uint32_t>(local.size())) + name;
    local += "PK\3\4" + common + name + data;
  }
  const auto count = little_endian(static_cast<std::uint16_t>(entries.size()));
  return local + central + std::string("PK\5\6\0\0\0\0", 8) + count + count +
      little_endian(static_cast<std::uint32_t>(central.size())) +
      little_endian(static_cast<std::uint32_t>(local.size())) +
      std::string(2, '\0');
}

} // namespace temper::fuzz
