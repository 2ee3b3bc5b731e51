// IDX, the format of MNIST: a type, up to eight big-endian sizes, numbers.
// Plain files are mapped; gzip files are unpacked into memory, after their
// header has said how much that is and their size made it believable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace temper::data {

enum class IdxType { u8, i8, i16, i32, f32, f64 };

struct IdxHeader {
  IdxType type = IdxType::u8;
  std::vector<std::uint32_t> shape;
  std::size_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
};

// `file` is its beginning or all of it. Error, naming `name`, when it is not
// IDX or its sizes are impossible.
IdxHeader parse_idx_header(
    std::span<const std::uint8_t> file,
    const std::string& name);

struct IdxArray {
  IdxHeader header;
  std::span<const std::uint8_t> data;
  std::shared_ptr<const void> owner; // of the bytes
};

IdxArray read_idx(const std::filesystem::path& path);

} // namespace temper::data
