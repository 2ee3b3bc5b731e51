// NumPy's .npy (versions 1 to 3): a Python dict literal that names type,
// order and shape, then the numbers. Files are mapped, never loaded.
//
// The literal is parsed strictly: exactly the three keys NumPy writes, with
// values of the kinds it writes. Nothing in a file is ever executed: arrays of
// objects are pickles, which are programs, and are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace temper::data {

enum class NpyKind { boolean, signed_integer, unsigned_integer, floating };

struct NpyHeader {
  NpyKind kind = NpyKind::floating;
  int item_bytes = 0; // 1, 2, 4 or 8
  bool big_endian = false;
  bool fortran_order = false; // the first index runs fastest
  std::vector<std::int64_t> shape;
  std::size_t header_bytes = 0;
  std::uint64_t data_bytes = 0;

  std::int64_t items() const; // all of them
  // The number of items in one entry along the first dimension.
  std::int64_t row_items() const;
  bool is_integer() const {
    return kind != NpyKind::floating;
  }
};

// `file` is its beginning or all of it. Error, naming `name`, otherwise.
NpyHeader parse_npy_header(
    std::span<const std::uint8_t> file,
    const std::string& name);

struct NpyArray {
  std::string name; // for messages
  NpyHeader header;
  std::span<const std::uint8_t> data;
  std::shared_ptr<const void> owner; // of the bytes
  std::string path; // of the file it is in
  bool is_file = false; // all of it, rather than a part of an archive
};

// `file` is all of one; it must hold exactly what its header says.
NpyArray parse_npy(
    std::span<const std::uint8_t> file,
    std::shared_ptr<const void> owner,
    const std::string& name);
NpyArray map_npy(const std::filesystem::path& path);

// The bytes of one entry along the first dimension, in C order and in the
// file's byte order: in the array itself where they lie together, else
// gathered into `scratch`.
std::span<const std::uint8_t> npy_row(
    const NpyArray& array,
    std::int64_t index,
    std::vector<std::uint8_t>& scratch);

// Items of the header's type as floats.
void npy_to_floats(
    const NpyHeader& header,
    std::span<const std::uint8_t> items,
    float* out);

// One item of an integer type. An unsigned 64-bit number above the largest
// signed one comes out negative.
std::int64_t npy_integer(const NpyHeader& header, const std::uint8_t* item);

} // namespace temper::data
