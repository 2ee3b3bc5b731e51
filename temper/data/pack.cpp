#include "temper/data/pack.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "temper/base/atomic_file.h"
#include "temper/base/hash.h"
#include "temper/base/text.h"
#include "temper/data/pack_about.h"

namespace temper::data {
namespace {

constexpr std::size_t kTableChunk =
    4096; // records held before they are written
constexpr std::int64_t kProgressEvery = 256;

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kPackAlign - 1) / kPackAlign * kPackAlign;
}

std::vector<PackPart> parts_of(const Splits& splits) {
  std::vector<PackPart> parts;
  for (const auto& source : {splits.train, splits.val}) {
    if (!source || source->size() == 0) continue;
    const SourceInfo& info = source->info();
    if (info.input != Input::image || info.target != Target::label)
      throw Error(
          cat("[data] ",
              info.name,
              " cannot be packed: only images with a "
              "label can."));
    parts.push_back({info, source->size(), source->fingerprint()});
  }
  if (parts.empty() || !splits.train || splits.train->size() == 0)
    throw Error("[data] there is nothing to pack: the training part is empty.");
  return parts;
}

class PackWriter {
 public:
  PackWriter(
      const std::filesystem::path& path,
      const std::vector<PackPart>& parts)
      : file_(path), about_(write_about(parts)) {
    Hasher fingerprint;
    for (const auto& part : parts) {
      header_.records += static_cast<std::uint64_t>(part.size);
      fingerprint.add(part.fingerprint);
    }
    header_.fingerprint = fingerprint.value();
    header_.about_bytes = about_.size();
    header_.about_hash = hash64(about_);
    header_.table_offset = aligned(sizeof(PackHeader) + about_.size());
    header_.records_offset =
        aligned(header_.table_offset + header_.records * sizeof(PackRecord));
    end_ = header_.records_offset;
    table_end_ = header_.table_offset;
  }

  void add(const Image& image, std::int64_t label) {
    constexpr int kMostSide = std::numeric_limits<std::uint16_t>::max();
    if (image.width() < 1 || image.height() < 1 || image.width() > kMostSide ||
        image.height() > kMostSide ||
        image.bytes() > std::numeric_limits<std::uint32_t>::max())
      throw BadSample("[data] an image of a size that cannot be packed.");
    PackRecord record;
    record.offset = end_;
    record.hash = hash64(image.pixels(), image.bytes());
    record.label = label;
    record.bytes = static_cast<std::uint32_t>(image.bytes());
    record.width = static_cast<std::uint16_t>(image.width());
    record.height = static_cast<std::uint16_t>(image.height());
    record.channels = static_cast<std::uint8_t>(image.channels());
    file_.write_at(end_, image.pixels(), image.bytes());
    end_ = aligned(end_ + image.bytes());
    chunk_.push_back(record);
    if (chunk_.size() == kTableChunk) flush();
  }

  void finish() {
    flush();
    PackTrailer trailer;
    trailer.table_hash = table_.value();
    header_.trailer_offset = end_;
    header_.header_hash =
        hash64(&header_, sizeof(header_) - sizeof(header_.header_hash));
    file_.write_at(end_, &trailer, sizeof(trailer));
    file_.write_at(0, &header_, sizeof(header_));
    file_.write_at(sizeof(header_), about_.data(), about_.size());
    file_.commit();
  }

 private:
  void flush() {
    const std::size_t bytes = chunk_.size() * sizeof(PackRecord);
    table_.add(chunk_.data(), bytes);
    file_.write_at(table_end_, chunk_.data(), bytes);
    table_end_ += bytes;
    chunk_.clear();
  }

  AtomicFile file_;
  std::string about_;
  PackHeader header_;
  Hasher table_;
  std::vector<PackRecord> chunk_;
  std::uint64_t table_end_ = 0;
  std::uint64_t end_ = 0;
};

} // namespace

void write_pack(
    const Splits& splits,
    const std::filesystem::path& path,
    const PackProgress& progress) {
  const auto parts = parts_of(splits);
  std::int64_t all = 0;
  for (const auto& part : parts)
    all += part.size;
  PackWriter writer(path, parts);
  Sample sample;
  std::int64_t written = 0;
  for (const auto& source : {splits.train, splits.val}) {
    const std::int64_t size = source ? source->size() : 0;
    for (std::int64_t index = 0; index < size; ++index) {
      source->read(index, sample);
      writer.add(sample.image, sample.label);
      if (++written % kProgressEvery == 0 && progress) progress(written, all);
    }
  }
  writer.finish();
  if (progress) progress(all, all);
}

} // namespace temper::data
