// tf.Example messages, by hand: the part of protobuf that they need. Nothing
// is copied; the features point into the message. Used by tfrecord_source.cpp.
//
// A malformed record is a BadSample whose what() is the bare reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "temper/data/codec/decode.h"

namespace temper::data {

struct TfFeature {
  enum class Kind { none, bytes, floats, ints };

  std::string_view key;
  Kind kind = Kind::none;
  Bytes list; // the encoded BytesList, FloatList or Int64List
};

// The features in the order they are stored; at most a thousand.
std::vector<TfFeature> parse_tf_example(Bytes message);

// The values of a feature, packed or not. Throws BadSample when it is of
// another kind.
std::vector<Bytes> byte_values(const TfFeature& feature);
std::vector<float> float_values(const TfFeature& feature);
std::vector<std::int64_t> int_values(const TfFeature& feature);

// The only value of the feature; no value when there is none of that name.
// Throws BadSample when it has another number of values.
std::optional<std::int64_t> single_int(
    const std::vector<TfFeature>& features,
    std::string_view key);
std::optional<Bytes> single_bytes(
    const std::vector<TfFeature>& features,
    std::string_view key);

} // namespace temper::data
