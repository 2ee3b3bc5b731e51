#include "temper/data/format/tf_example.h"

#include <cstring>

#include "temper/base/byte_order.h"
#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostFeatures = 1000;

[[noreturn]] void refuse_example(const std::string& reason) {
  throw BadSample(cat("a malformed tf.Example (", reason, ")"));
}

// How a field is encoded: the low three bits of its tag.
enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

// One field after the other of an encoded message.
class Fields {
 public:
  explicit Fields(Bytes message) : left_(message) {}

  // False at the end.
  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t tag = varint();
    number_ = tag >> 3;
    wire_ = static_cast<unsigned>(tag & 7);
    switch (wire_) {
      case kVarint:
        value_ = varint();
        break;
      case kFixed64:
        contents_ = take(8);
        break;
      case kLength:
        contents_ = take(varint());
        break;
      case kFixed32:
        contents_ = take(4);
        break;
      default:
        refuse_example("an unknown encoding");
    }
    return true;
  }

  bool is(std::uint64_t number, Wire wire) const {
    return number_ == number && wire_ == wire;
  }
  std::uint64_t value() const { // of a varint
    return value_;
  }
  Bytes contents() const { // of everything else
    return contents_;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = take(1)[0];
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse_example("a number of more than 64 bits");
  }
  bool at_end() const {
    return left_.empty();
  }

 private:
  Bytes take(std::uint64_t count) {
    if (count > left_.size())
      refuse_example("it ends in the middle of a field");
    const Bytes taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  Bytes left_;
  std::uint64_t number_ = 0;
  unsigned wire_ = 0;
  std::uint64_t value_ = 0;
  Bytes contents_;
};

// message Feature { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }
void read_feature(Bytes message, TfFeature& feature) {
  for (Fields fields(message); fields.next();) {
    if (fields.is(1, kLength))
      feature.kind = TfFeature::Kind::bytes;
    else if (fields.is(2, kLength))
      feature.kind = TfFeature::Kind::floats;
    else if (fields.is(3, kLength))
      feature.kind = TfFeature::Kind::ints;
    else
      continue;
    feature.list = fields.contents();
  }
}

// An entry of map<string, Feature>: key = 1, value = 2.
TfFeature read_entry(Bytes message) {
  TfFeature feature;
  for (Fields fields(message); fields.next();) {
    const Bytes contents = fields.contents();
    if (fields.is(1, kLength))
      feature.key = {
          reinterpret_cast<const char*>(contents.data()), contents.size()};
    else if (fields.is(2, kLength))
      read_feature(contents, feature);
  }
  return feature;
}

void need_kind(
    const TfFeature& feature,
    TfFeature::Kind kind,
    const char* name) {
  if (feature.kind != kind)
    throw BadSample(
        cat("its feature ", feature.key, " is not a list of ", name));
}

const TfFeature* find(
    const std::vector<TfFeature>& features,
    std::string_view key) {
  for (const TfFeature& feature : features)
    if (feature.key == key) return &feature;
  return nullptr;
}

void need_one(const TfFeature& feature, std::size_t count) {
  if (count != 1)
    throw BadSample(
        cat("its feature ", feature.key, " has ", count, " values, not one"));
}

float float_at(Bytes bytes, std::size_t at) {
  const auto bits = read_little_endian<std::uint32_t>(bytes.data() + at);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace

// message Example { Features features = 1; }
// message Features { map<string, Feature> feature = 1; }
std::vector<TfFeature> parse_tf_example(Bytes message) {
  std::vector<TfFeature> features;
  for (Fields example(message); example.next();) {
    if (!example.is(1, kLength)) continue;
    for (Fields map(example.contents()); map.next();) {
      if (!map.is(1, kLength)) continue;
      if (features.size() == kMostFeatures) refuse_example("too many features");
      features.push_back(read_entry(map.contents()));
    }
  }
  return features;
}

std::vector<Bytes> byte_values(const TfFeature& feature) {
  need_kind(feature, TfFeature::Kind::bytes, "bytes");
  std::vector<Bytes> values;
  for (Fields list(feature.list); list.next();)
    if (list.is(1, kLength)) values.push_back(list.contents());
  return values;
}

std::vector<float> float_values(const TfFeature& feature) {
  need_kind(feature, TfFeature::Kind::floats, "floats");
  std::vector<float> values;
  for (Fields list(feature.list); list.next();) {
    if (!list.is(1, kLength) && !list.is(1, kFixed32)) continue;
    const Bytes packed = list.contents();
    if (packed.size() % 4 != 0) refuse_example("floats that are not whole");
    for (std::size_t at = 0; at < packed.size(); at += 4)
      values.push_back(float_at(packed, at));
  }
  return values;
}

std::vector<std::int64_t> int_values(const TfFeature& feature) {
  need_kind(feature, TfFeature::Kind::ints, "integers");
  std::vector<std::int64_t> values;
  for (Fields list(feature.list); list.next();) {
    if (list.is(1, kVarint))
      values.push_back(static_cast<std::int64_t>(list.value()));
    if (!list.is(1, kLength)) continue;
    for (Fields packed(list.contents()); !packed.at_end();)
      values.push_back(static_cast<std::int64_t>(packed.varint()));
  }
  return values;
}

std::optional<std::int64_t> single_int(
    const std::vector<TfFeature>& features,
    std::string_view key) {
  const TfFeature* feature = find(features, key);
  if (feature == nullptr) return std::nullopt;
  const auto values = int_values(*feature);
  need_one(*feature, values.size());
  return values.front();
}

std::optional<Bytes> single_bytes(
    const std::vector<TfFeature>& features,
    std::string_view key) {
  const TfFeature* feature = find(features, key);
  if (feature == nullptr) return std::nullopt;
  const auto values = byte_values(*feature);
  need_one(*feature, values.size());
  return values.front();
}

} // namespace temper::data
