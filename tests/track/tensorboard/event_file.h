// Reads TensorBoard event files from the format's description alone: no code
// of the writer's is used, not even its checksum.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace temper::tests {

// Field number -> values: varints and fixed numbers as bits, the rest bytes.
struct Field {
  int number = 0;
  int type = 0;
  std::uint64_t bits = 0;
  std::string bytes;
};

inline std::vector<Field> fields_of(const std::string& message) {
  std::vector<Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
  };
  const auto fixed = [&](int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(message.at(at++))}
          << 8 * i;
    return value;
  };
  while (at < message.size()) {
    const std::uint64_t key = varint();
    Field field{static_cast<int>(key >> 3), static_cast<int>(key & 7), 0, ""};
    switch (field.type) {
      case 0:
        field.bits = varint();
        break;
      case 1:
        field.bits = fixed(8);
        break;
      case 5:
        field.bits = fixed(4);
        break;
      case 2: {
        const std::uint64_t size = varint();
        if (size > message.size() - at) throw std::runtime_error("cut off");
        field.bytes = message.substr(at, size);
        at += size;
        break;
      }
      default:
        throw std::runtime_error("a wire type that does not exist");
    }
    fields.push_back(field);
  }
  return fields;
}

inline std::vector<Field> all(const std::string& message, int number) {
  std::vector<Field> found;
  for (const Field& field : fields_of(message))
    if (field.number == number) found.push_back(field);
  return found;
}
inline Field one(const std::string& message, int number) {
  const auto found = all(message, number);
  return found.empty() ? Field{} : found[0];
}
inline double as_double(const Field& field) {
  double value = 0;
  std::memcpy(&value, &field.bits, sizeof value);
  return value;
}
inline float as_float(const Field& field) {
  const auto bits = static_cast<std::uint32_t>(field.bits);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Bit by bit, as the definition has it.
inline std::uint32_t slow_masked_crc(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

inline std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  std::size_t at = 0;
  const auto number = [&](std::size_t from, int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(
                   file.at(from + static_cast<std::size_t>(i)))}
          << 8 * i;
    return value;
  };
  while (at < file.size()) {
    const std::uint64_t size = number(at, 8);
    if (number(at + 8, 4) != slow_masked_crc(file.substr(at, 8)))
      throw std::runtime_error("a length's checksum is wrong");
    const std::string data = file.substr(at + 12, size);
    if (data.size() != size ||
        number(at + 12 + size, 4) != slow_masked_crc(data))
      throw std::runtime_error("a record's checksum is wrong");
    records.push_back(data);
    at += 16 + size;
  }
  return records;
}

} // namespace temper::tests
