#include "temper/data/pack/pack.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "temper/base/digest/hash.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/loader/order.h"
#include "temper/data/loader/sample_task.h"
#include "temper/data/pack/pack_about.h"

namespace temper::data {
namespace {

constexpr std::size_t kTableChunk =
    4096; // records held before they are written
constexpr std::int64_t kProgressEvery = 256;
// Fingerprints change with what is left out, and may have more digits then.
constexpr std::size_t kAboutGrows = 64;
constexpr std::int64_t kNamedBadSamples = 5; // bad samples; the rest is counted

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kPackAlign - 1) / kPackAlign * kPackAlign;
}

std::vector<PackPart> pack_parts(const Splits& splits) {
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
    parts.push_back(
        {info, source->size(), source->fingerprint(), true, splits.divided});
  }
  if (parts.empty() || !splits.train || splits.train->size() == 0)
    throw Error("[data] there is nothing to pack: the training part is empty.");
  return parts;
}

class PackWriter {
 public:
  // Room for all samples of the parts, of which finish() may leave some out.
  PackWriter(
      const std::filesystem::path& path,
      const std::vector<PackPart>& parts)
      : file_(path) {
    std::uint64_t most = 0;
    for (const auto& part : parts)
      most += static_cast<std::uint64_t>(part.size);
    header_.table_offset =
        aligned(sizeof(PackHeader) + write_about(parts).size() + kAboutGrows);
    header_.records_offset =
        aligned(header_.table_offset + most * sizeof(PackRecord));
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

  // `parts` with the sizes that were written.
  void finish(const std::vector<PackPart>& parts) {
    flush();
    const std::string about = write_about(parts);
    Hasher fingerprint;
    for (const auto& part : parts) {
      header_.records += static_cast<std::uint64_t>(part.size);
      fingerprint.add(part.fingerprint);
    }
    header_.fingerprint = fingerprint.value();
    header_.about_bytes = about.size();
    header_.about_hash = hash64(about);
    check(
        sizeof(header_) + about.size() <= header_.table_offset,
        "what is said about a pack fits before its table");
    PackTrailer trailer;
    trailer.table_hash = table_.value();
    header_.trailer_offset = end_;
    header_.header_hash =
        hash64(&header_, sizeof(header_) - sizeof(header_.header_hash));
    file_.write_at(end_, &trailer, sizeof(trailer));
    file_.write_at(0, &header_, sizeof(header_));
    file_.write_at(sizeof(header_), about.data(), about.size());
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
  PackHeader header_;
  Hasher table_;
  std::vector<PackRecord> chunk_;
  std::uint64_t table_end_ = 0;
  std::uint64_t end_ = 0;
};

// Reads the samples of a part for a pack, and does what the policy says with
// bad ones.
class PackReader {
 public:
  PackReader(const IndexedSource& source, const PackOptions& options)
      : source_(source),
        options_(options),
        order_(source.size(), false, options.seed, 0) {}

  // False: the sample is left out.
  bool read(std::int64_t index, Sample& sample) {
    try {
      source_.read(index, sample);
      return true;
    } catch (const BadSample& bad) {
      const std::string reason =
          describe_bad(source_.describe(index), index, bad);
      if (options_.bad == BadPolicy::error)
        throw BadSample(
            reason, "Remove it, or pack with --bad skip to leave it out.");
      changed_.add(static_cast<std::uint64_t>(index));
      const bool skip = options_.bad == BadPolicy::skip;
      if (bad_++ < kNamedBadSamples)
        log::warn(cat(reason, skip ? " Skipped." : " Replaced."));
      if (!skip) replace(index, sample, reason);
      return !skip;
    }
  }
  std::int64_t bad() const {
    return bad_;
  }
  // A pack without some samples is another dataset.
  std::uint64_t fingerprint() {
    if (bad_ == 0) return source_.fingerprint();
    changed_.add(source_.fingerprint());
    return changed_.value();
  }

 private:
  void replace(std::int64_t index, Sample& sample, const std::string& reason) {
    for (int attempt = 0; attempt < SampleTask::kSubstitutes; ++attempt) {
      try {
        source_.read(order_.substitute(index, attempt), sample);
        return;
      } catch (const BadSample&) {
        continue;
      }
    }
    throw BadSample(
        cat(reason,
            " So were ",
            SampleTask::kSubstitutes,
            " others tried in its place."),
        "See what is wrong with the data: temper data check.");
  }

  const IndexedSource& source_;
  const PackOptions& options_;
  Order order_;
  Hasher changed_;
  std::int64_t bad_ = 0;
};

} // namespace

std::int64_t write_pack(
    const Splits& splits,
    const std::filesystem::path& path,
    const PackOptions& options) {
  auto parts = pack_parts(splits);
  std::int64_t all = 0;
  for (const auto& part : parts)
    all += part.size;
  PackWriter writer(path, parts);
  Sample sample;
  std::int64_t done = 0;
  std::int64_t bad = 0;
  auto part = parts.begin();
  for (const auto& source : {splits.train, splits.val}) {
    const std::int64_t size = source ? source->size() : 0;
    if (size == 0) continue;
    PackReader reader(*source, options);
    part->size = 0;
    for (std::int64_t index = 0; index < size; ++index) {
      if (reader.read(index, sample)) {
        writer.add(sample.image, sample.label);
        ++part->size;
      }
      if (++done % kProgressEvery == 0 && options.progress)
        options.progress(done, all);
    }
    part->fingerprint = reader.fingerprint();
    bad += reader.bad();
    ++part;
  }
  if (parts.front().size == 0)
    throw Error(
        "[data] there is nothing to pack: no sample can be read.",
        "See what is wrong with the data: temper data check.");
  writer.finish(parts);
  if (options.progress) options.progress(all, all);
  return bad;
}

} // namespace temper::data
