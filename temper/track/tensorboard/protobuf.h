// Messages in protobuf's wire format, written field by field: what TensorBoard
// reads, without the compiler and library that usually make it.
// Private to track/tensorboard.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "temper/base/byte_order.h"

namespace temper::track {

class Message {
 public:
  Message& integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& number(int field, double value) {
    key(field, 1);
    bytes_ += little_endian_text(std::bit_cast<std::uint64_t>(value), 8);
    return *this;
  }
  Message& number32(int field, float value) {
    key(field, 5);
    bytes_ += little_endian_text(std::bit_cast<std::uint32_t>(value), 4);
    return *this;
  }
  Message& text(int field, std::string_view bytes) {
    key(field, 2);
    varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(int field, const Message& inner) {
    return text(field, inner.bytes_);
  }
  const std::string& bytes() const {
    return bytes_;
  }

 private:
  void key(int field, int type) {
    varint(
        static_cast<std::uint64_t>(field) << 3 |
        static_cast<std::uint64_t>(type));
  }
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes_ += static_cast<char>((value & 127) | 128);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

} // namespace temper::track
