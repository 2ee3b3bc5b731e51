// The records of a TFRecord file: a length and its checksum, the data and its
// checksum. Used by tfrecord_source.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "temper/data/codec/decode.h"

namespace temper::data {

struct TfRecord {
  std::uint64_t offset = 0; // of the data
  std::uint64_t bytes = 0; // of the data; its checksum of 4 bytes follows
};

constexpr std::uint64_t kTfChecksumBytes = 4;

// Checks lengths against their checksums and the file's size, but no data.
// Error, with the bare reason, when one does not fit.
std::vector<TfRecord> read_tfrecord_index(Bytes file);

// The data of a record that is followed by its checksum. Throws BadSample,
// with the bare reason, when they do not fit together.
Bytes checked_tfrecord(Bytes data_and_checksum);

} // namespace temper::data
