// A dataset in one file, decoded, checksummed, mapped into memory: `.tpk`.
//
//   header   128 bytes, little-endian (PackHeader)
//   about    JSON: what SourceInfo says, and the parts (train, val)
//   table    one PackRecord a sample, train first
//   records  pixels, rows top to bottom, channels interleaved; 64-aligned
//   trailer  16 bytes: the table's hash, and a mark that says it is complete
//
// Header, JSON and table are verified when it is opened, a record when it is
// first read. Pixels are those of the source, so a run may change from one to
// the other in the middle: the fingerprint is the source's too.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "temper/data/loader/loader.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

constexpr std::array<char, 8>
    kPackMagic{'t', 'e', 'm', 'p', 'r', 'p', 'k', '\n'};
constexpr std::array<char, 8> kPackEnd{'p', 'a', 'c', 'k', 'e', 'n', 'd', '\n'};
constexpr std::uint32_t kPackVersion = 1;
constexpr std::size_t kPackAlign = 64;

enum class PackCodec : std::uint8_t { raw_u8 = 1 };

struct PackHeader {
  std::array<char, 8> magic = kPackMagic;
  std::uint32_t version = kPackVersion;
  std::uint32_t pixel_format = 1; // u8, interleaved
  std::uint64_t records = 0;
  std::uint64_t fingerprint = 0; // of all parts
  std::uint64_t about_bytes = 0; // of the JSON, which follows
  std::uint64_t table_offset = 0;
  std::uint64_t records_offset = 0;
  std::uint64_t trailer_offset = 0;
  std::uint64_t about_hash = 0;
  std::array<std::uint64_t, 6> reserved{};
  std::uint64_t header_hash = 0; // of what is before it
};
static_assert(sizeof(PackHeader) == 128);

struct PackRecord {
  std::uint64_t offset = 0; // in the file
  std::uint64_t hash = 0; // XXH3 of its bytes
  std::int64_t label = 0;
  std::uint32_t bytes = 0;
  std::uint16_t width = 0;
  std::uint16_t height = 0;
  std::uint8_t channels = 0;
  PackCodec codec = PackCodec::raw_u8;
  std::array<std::uint8_t, 6> reserved{};
};
static_assert(sizeof(PackRecord) == 40);

struct PackTrailer {
  std::uint64_t table_hash = 0;
  std::array<char, 8> end = kPackEnd;
};
static_assert(sizeof(PackTrailer) == 16);

// Called now and then with how many of how many are written.
using PackProgress = std::function<void(std::int64_t, std::int64_t)>;

struct PackOptions {
  // Skipped and replaced samples are warned about, with their names.
  BadPolicy bad = BadPolicy::error;
  std::uint64_t seed = 0; // of the samples that replace others
  PackProgress progress = {};
};

// Writes train, then val where there is one. The file is complete or absent.
// Returns how many samples were bad. Error when it is not images with labels,
// or a sample is bad and the policy is "error".
std::int64_t write_pack(
    const Splits& splits,
    const std::filesystem::path& path,
    const PackOptions& options = {});

// Error when it is not a pack, is damaged, or is of another version.
Splits open_pack(const std::filesystem::path& path, const OpenOptions& options);

} // namespace temper::data
