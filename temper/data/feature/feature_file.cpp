// A head of 4 KiB (a magic line, the hash of the rest of the head, JSON), then
// one record a sample: features, target, and whether it is there. All in the
// byte order of this machine, whose files nobody else reads: the key has that.
#include "temper/data/feature/feature_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using nlohmann::json;

constexpr std::size_t kHeadBytes = 4096;
constexpr std::string_view kFeatureMagic = "temper features 1\n";
constexpr std::size_t kHashAt = 24;
constexpr std::size_t kJsonAt = 32;
constexpr std::size_t kLongestWhat = 512;
constexpr std::uint64_t kThere = 1;
constexpr std::uint64_t kMostFeatureBytes = std::uint64_t{1} << 50;

using Head = std::array<char, kHeadBytes>;

std::uint64_t to_eight(std::uint64_t bytes) {
  return (bytes + 7) / 8 * 8;
}

std::uint64_t feature_bytes(const FeatureLayout& layout) {
  return to_eight(static_cast<std::uint64_t>(layout.values) * sizeof(float));
}

Head head_of(const FeatureAbout& about, std::uint64_t payload_hash) {
  const std::string text =
      json{
          {"samples", about.layout.samples},
          {"values", about.layout.values},
          {"target_bytes", about.layout.target_bytes},
          {"key", about.key},
          {"hash", payload_hash},
          {"seconds", about.seconds},
          {"what", about.what.substr(0, kLongestWhat)}}
          .dump(-1, ' ', true, json::error_handler_t::replace);
  check(text.size() <= kHeadBytes - kJsonAt, "a head of features is short");
  Head head{};
  std::copy(kFeatureMagic.begin(), kFeatureMagic.end(), head.begin());
  std::copy(text.begin(), text.end(), head.begin() + kJsonAt);
  const std::uint64_t hash = hash64(&head[kJsonAt], kHeadBytes - kJsonAt);
  std::memcpy(&head[kHashAt], &hash, sizeof hash);
  return head;
}

struct Read {
  FeatureAbout about;
  std::uint64_t payload_hash = 0;
};

std::optional<Read> read_head(const char* head) {
  std::uint64_t hash = 0;
  std::memcpy(&hash, head + kHashAt, sizeof hash);
  if (std::string_view(head, kFeatureMagic.size()) != kFeatureMagic ||
      hash != hash64(head + kJsonAt, kHeadBytes - kJsonAt))
    return std::nullopt;
  // The hash holds: what is in it was written by temper.
  const auto end = std::find(head + kJsonAt, head + kHeadBytes, '\0');
  const json text = json::parse(head + kJsonAt, end, nullptr, false);
  try {
    Read read;
    read.about.layout.samples = text.at("samples");
    read.about.layout.values = text.at("values");
    read.about.layout.target_bytes = text.at("target_bytes");
    read.about.key = text.at("key");
    read.about.seconds = text.at("seconds");
    read.about.what = text.at("what");
    read.payload_hash = text.at("hash");
    return read;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

} // namespace

std::uint64_t FeatureLayout::record_bytes() const {
  check(
      samples >= 0 && values > 0 && target_bytes >= 0, "features have a size");
  if (static_cast<std::uint64_t>(values) > kMostFeatureBytes / sizeof(float) ||
      static_cast<std::uint64_t>(target_bytes) > kMostFeatureBytes)
    throw Error("[data] one sample's features are larger than any file.");
  return feature_bytes(*this) +
      to_eight(static_cast<std::uint64_t>(target_bytes)) + sizeof(kThere);
}

std::uint64_t FeatureLayout::file_bytes() const {
  const std::uint64_t record = record_bytes();
  if (static_cast<std::uint64_t>(samples) > kMostFeatureBytes / record)
    throw Error(
        cat("[data] the features of ",
            count_text(samples),
            " samples are larger than any file."));
  return kHeadBytes + static_cast<std::uint64_t>(samples) * record;
}

FeatureWriter::FeatureWriter(
    const std::filesystem::path& path,
    FeatureAbout about)
    : about_(std::move(about)), file_(path) {
  about_.layout.file_bytes(); // refuses what is too large
  record_.resize(static_cast<std::size_t>(about_.layout.record_bytes()));
  file_.write(Head{}.data(), kHeadBytes);
}

void FeatureWriter::add_missing(std::int64_t end) {
  std::fill(record_.begin(), record_.end(), std::uint8_t{0});
  for (; next_ < end; ++next_) {
    hasher_.add(record_.data(), record_.size());
    file_.write(record_.data(), record_.size());
  }
}

void FeatureWriter::add(
    std::int64_t index,
    const float* values,
    const void* target) {
  check(
      index >= next_ && index < about_.layout.samples,
      "features are written in order");
  add_missing(index);
  const auto& layout = about_.layout;
  std::uint8_t* at = record_.data();
  std::memcpy(
      at, values, static_cast<std::size_t>(layout.values) * sizeof(float));
  at += feature_bytes(layout);
  if (layout.target_bytes > 0)
    std::memcpy(at, target, static_cast<std::size_t>(layout.target_bytes));
  std::memcpy(
      record_.data() + record_.size() - sizeof kThere, &kThere, sizeof kThere);
  hasher_.add(record_.data(), record_.size());
  file_.write(record_.data(), record_.size());
  ++next_;
}

void FeatureWriter::commit(double seconds) {
  add_missing(about_.layout.samples);
  about_.seconds = seconds;
  const Head head = head_of(about_, hasher_.value());
  file_.write_at(0, head.data(), head.size());
  file_.commit();
}

FeatureFile::FeatureFile(MappedFile file, FeatureAbout about)
    : file_(std::move(file)), about_(std::move(about)) {}

std::shared_ptr<const FeatureFile> FeatureFile::open(
    const std::filesystem::path& path,
    std::uint64_t key,
    const FeatureLayout& layout,
    std::string& why) {
  why.clear();
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return nullptr;
  MappedFile mapped(path);
  const auto bytes = mapped.bytes();
  if (bytes.size() < kHeadBytes) {
    why = "it is too short";
    return nullptr;
  }
  const auto read = read_head(reinterpret_cast<const char*>(bytes.data()));
  if (!read) {
    why = "its head is damaged";
    return nullptr;
  }
  if (read->about.key != key || read->about.layout != layout) {
    why = "it was made from something else";
    return nullptr;
  }
  if (bytes.size() != layout.file_bytes()) {
    why = "it has another length than it should";
    return nullptr;
  }
  // In one piece, which also brings it into memory in order.
  if (hash64(bytes.data() + kHeadBytes, bytes.size() - kHeadBytes) !=
      read->payload_hash) {
    why = "its checksum does not hold";
    return nullptr;
  }
  return std::make_shared<FeatureFile>(std::move(mapped), read->about);
}

const std::uint8_t* FeatureFile::record(std::int64_t index) const {
  check(
      index >= 0 && index < about_.layout.samples,
      "an index of features is inside");
  return file_.bytes().data() + kHeadBytes +
      static_cast<std::uint64_t>(index) * about_.layout.record_bytes();
}

bool FeatureFile::has(std::int64_t index) const {
  std::uint64_t there = 0;
  std::memcpy(
      &there,
      record(index) + about_.layout.record_bytes() - sizeof there,
      sizeof there);
  return there == kThere;
}

const float* FeatureFile::values(std::int64_t index) const {
  return reinterpret_cast<const float*>(record(index));
}

const void* FeatureFile::target(std::int64_t index) const {
  return record(index) + feature_bytes(about_.layout);
}

std::optional<FeatureAbout> read_feature_about(
    const std::filesystem::path& path) {
  Head head{};
  std::ifstream in(path, std::ios::binary);
  if (!in.read(head.data(), head.size())) return std::nullopt;
  const auto read = read_head(head.data());
  return read ? std::optional(read->about) : std::nullopt;
}

} // namespace temper::data
