#include "temper/data/pack/pack_source.h"

#include <cstring>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"

namespace temper::data {

PackFile::PackFile(const std::filesystem::path& path)
    : path_(path), file_(path) {
  check_header();
  check_table();
  const auto records = static_cast<std::size_t>(header_.records);
  verified_ = std::vector<std::atomic<std::uint32_t>>(records / 32 + 1);
  file_.expect_random_access();
}

void PackFile::refuse(const std::string& why) const {
  throw Error(
      cat("[data] cannot use the pack ", path_.string(), ": ", why, "."),
      "Write it again with temper data pack.");
}

// Everything is held against the size of the file before it is used.
void PackFile::check_header() {
  const auto bytes = file_.bytes();
  if (bytes.size() < sizeof(PackHeader) + sizeof(PackTrailer))
    refuse("it is too short to be one");
  std::memcpy(&header_, bytes.data(), sizeof(header_));
  if (header_.magic != kPackMagic) refuse("it does not begin like one");
  if (header_.version != kPackVersion || header_.pixel_format != 1)
    refuse(cat("it is of version ", header_.version, ", not ", kPackVersion));
  if (header_.header_hash !=
      hash64(bytes.data(), sizeof(header_) - sizeof(header_.header_hash)))
    refuse("its header is damaged");
  if (header_.trailer_offset != bytes.size() - sizeof(PackTrailer))
    refuse(
        cat("it has ",
            count_text(static_cast<std::int64_t>(bytes.size())),
            " bytes and should have ",
            count_text(static_cast<std::int64_t>(
                header_.trailer_offset + sizeof(PackTrailer)))));
  if (header_.about_bytes > header_.trailer_offset - sizeof(PackHeader) ||
      header_.table_offset < sizeof(PackHeader) + header_.about_bytes ||
      header_.table_offset > header_.records_offset ||
      header_.records_offset > header_.trailer_offset ||
      header_.records >
          (header_.records_offset - header_.table_offset) / sizeof(PackRecord))
    refuse("its parts overlap");
  const std::string_view about(
      reinterpret_cast<const char*>(bytes.data()) + sizeof(PackHeader),
      static_cast<std::size_t>(header_.about_bytes));
  if (hash64(about) != header_.about_hash)
    refuse("what it says about its data is damaged");
  try {
    parts_ = read_about(about);
  } catch (const Error& error) {
    refuse(error.what());
  }
  std::uint64_t records = 0;
  for (const auto& part : parts_)
    records += static_cast<std::uint64_t>(part.size);
  if (records != header_.records) refuse("its parts do not add up");
}

void PackFile::check_table() const {
  const auto bytes = file_.bytes();
  PackTrailer trailer;
  std::memcpy(&trailer, bytes.data() + header_.trailer_offset, sizeof(trailer));
  const auto table_bytes =
      static_cast<std::size_t>(header_.records) * sizeof(PackRecord);
  if (trailer.end != kPackEnd ||
      trailer.table_hash !=
          hash64(bytes.data() + header_.table_offset, table_bytes))
    refuse("its table is damaged");
  for (std::uint64_t i = 0; i < header_.records; ++i) {
    const PackRecord one = record(i);
    const std::uint64_t pixels =
        std::uint64_t{one.width} * one.height * one.channels;
    if (one.codec != PackCodec::raw_u8 || pixels != one.bytes || pixels == 0 ||
        (one.channels != 1 && one.channels != 3) ||
        one.offset < header_.records_offset ||
        one.offset > header_.trailer_offset ||
        one.bytes > header_.trailer_offset - one.offset)
      refuse(cat("its record ", i, " is not inside it"));
  }
}

std::span<const std::uint8_t> PackFile::table() const {
  return file_.bytes().subspan(
      static_cast<std::size_t>(header_.table_offset),
      static_cast<std::size_t>(header_.records) * sizeof(PackRecord));
}

PackRecord PackFile::record(std::uint64_t number) const {
  PackRecord one;
  std::memcpy(
      &one,
      file_.bytes().data() + header_.table_offset + number * sizeof(PackRecord),
      sizeof(one));
  return one;
}

void PackFile::read(std::uint64_t number, Sample& sample) const {
  const PackRecord one = record(number);
  sample.image.reshape(one.width, one.height, one.channels);
  std::memcpy(
      sample.image.pixels(), file_.bytes().data() + one.offset, one.bytes);
  sample.label = one.label;
  auto& word = verified_[static_cast<std::size_t>(number / 32)];
  const std::uint32_t bit = std::uint32_t{1} << (number % 32);
  if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
  // The copy is hashed: what was verified is what is used.
  if (hash64(sample.image.pixels(), one.bytes) != one.hash)
    throw BadSample(
        cat("[data] record ", number, " of ", path_.string(), " is damaged."),
        "Write the pack again with temper data pack.");
  word.fetch_or(bit, std::memory_order_relaxed);
}

PackSource::PackSource(
    std::shared_ptr<const PackFile> file,
    std::size_t first,
    std::size_t parts)
    : file_(std::move(file)),
      parts_{file_->parts().data() + first, parts},
      part_(file_->parts().at(first)),
      content_(1, [this](std::size_t) {
        return ContentFile{
            file_->path().filename().string(),
            file_->path().string(),
            file_->table()};
      }) {
  for (std::size_t i = 0; i < first; ++i)
    first_ += static_cast<std::uint64_t>(file_->parts()[i].size);
  for (const PackPart& each : parts_)
    size_ += each.size;
}

const SourceInfo& PackSource::info() const {
  return part_.info;
}

std::int64_t PackSource::size() const {
  return size_;
}

void PackSource::read(std::int64_t index, Sample& sample) const {
  file_->read(first_ + static_cast<std::uint64_t>(index), sample);
}

std::optional<std::int64_t> PackSource::label(std::int64_t index) const {
  return file_->label(first_ + static_cast<std::uint64_t>(index));
}

std::string PackSource::describe(std::int64_t index) const {
  return cat(
      "record ",
      first_ + static_cast<std::uint64_t>(index),
      " of ",
      file_->path().string());
}

std::uint64_t PackSource::fingerprint() const {
  std::uint64_t value = 0;
  for (const PackPart& part : parts_) {
    Hasher own;
    own.add(part.fingerprint);
    if (!part.of_content) own.add(content_.value());
    Hasher both;
    both.add(value);
    both.add(own.value());
    const std::uint64_t its = part.of_content ? part.fingerprint : own.value();
    value = parts_.size() == 1 ? its : both.value();
  }
  return value;
}

Splits open_pack(
    const std::filesystem::path& path,
    const OpenOptions& options) {
  const auto file = std::make_shared<const PackFile>(path);
  const std::size_t parts = file->parts().size();
  Splits splits;
  splits.divided = parts > 1 && file->parts()[1].divided;
  const bool undivided = options.whole || options.val_fraction == 0;
  if (undivided && splits.divided) {
    splits.train = std::make_shared<PackSource>(file, 0, parts);
    return splits;
  }
  splits.train = std::make_shared<PackSource>(file, 0);
  if (parts > 1) splits.val = std::make_shared<PackSource>(file, 1);
  return splits;
}

} // namespace temper::data
