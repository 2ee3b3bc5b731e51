#include "temper/data/source/shard_source.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"
#include "temper/data/format/gzip.h"
#include "temper/data/format/pattern.h"
#include "temper/data/sample/split.h"
#include "temper/data/source/encoded_file.h"

namespace temper::data {
namespace {

void index_one(
    const ShardFormat& format,
    std::uint32_t number,
    ShardIndex& index) {
  const std::string& path = index.shards[number];
  const MappedFile file(path);
  file.expect_random_access();
  try {
    format.index(file.bytes(), number, index);
  } catch (const Error& error) {
    // Only now: a sound shard may begin with these bytes, too.
    if (is_gzip(file.bytes()))
      throw Error(
          cat("[data] ",
              path,
              " is compressed: its samples cannot be reached."),
          "Unpack it with gunzip; images do not become smaller by gzip.");
    throw Error(
        cat("[data] cannot read ", path, ": ", error.what(), "."),
        "Fetch or write the shard again.");
  }
}

} // namespace

ShardIndex index_shards(
    const ShardFormat& format,
    const std::vector<std::string>& shards) {
  ShardIndex index;
  index.shards = shards;
  for (std::size_t i = 0; i < shards.size(); ++i)
    index_one(format, static_cast<std::uint32_t>(i), index);
  if (!index.labelled())
    throw Error(
        cat("[data] ",
            plural(
                static_cast<std::int64_t>(index.entries.size()), format.item),
            " and no label in ",
            shards.front(),
            shards.size() > 1 ? " and the other shards." : "."),
        format.sample_hint);
  return index;
}

ShardSource::ShardSource(
    const ShardFormat& format,
    ShardIndex index,
    SourceInfo info)
    : format_(format),
      index_(std::move(index)),
      info_(std::move(info)),
      index_print_(index_.fingerprint()),
      content_(index_.shards.size(), [this](std::size_t i) {
        const std::string& shard = index_.shards[i];
        return ContentFile{
            std::filesystem::path(shard).filename().string(), shard};
      }) {}

std::uint64_t ShardSource::fingerprint() const {
  Hasher hasher;
  hasher.add(std::string_view(format_.name));
  hasher.add(index_print_);
  hasher.add(content_.value());
  return hasher.value();
}

const ShardEntry& ShardSource::entry(std::int64_t index) const {
  check(index >= 0 && index < size(), "an index of the shards");
  return index_.entries[static_cast<std::size_t>(index)];
}

void ShardSource::read(std::int64_t index, Sample& sample) const {
  fill(index, nullptr, sample);
}

void ShardSource::read_window(
    std::int64_t index,
    const WindowChooser& chooser,
    Sample& sample) const {
  fill(index, &chooser, sample);
}

void ShardSource::fill(
    std::int64_t index,
    const WindowChooser* chooser,
    Sample& sample) const {
  const ShardEntry& where = entry(index);
  sample.warnings = 0;
  try {
    read_encoded_range(
        index_.shards[where.shard],
        where.offset,
        where.bytes + format_.trailer_bytes,
        sample.encoded);
    format_.decode(where, chooser, sample);
  } catch (const BadSample& error) {
    rethrow_named(error, describe(index));
  }
}

std::optional<std::int64_t> ShardSource::label(std::int64_t index) const {
  const std::int32_t label = entry(index).label;
  if (label == ShardEntry::kNoLabel) return std::nullopt;
  return label;
}

std::string ShardSource::describe(std::int64_t index) const {
  const ShardEntry& where = entry(index);
  const std::string& shard = index_.shards[where.shard];
  if (index_.names.size() > 0)
    return cat(index_.names[static_cast<std::size_t>(index)], " in ", shard);
  return cat(
      "the ",
      format_.item,
      " at byte ",
      count_text(static_cast<std::int64_t>(where.offset)),
      " of ",
      shard);
}

Splits open_shards(
    const ShardFormat& format,
    const std::string& pattern,
    const OpenOptions& options) {
  const ShardParts parts = part_by_name(expand_pattern(pattern));
  const auto open = [&](const std::vector<std::string>& shards) {
    ShardIndex index = index_shards(format, shards);
    std::vector<std::string> classes;
    if (format.class_names != nullptr)
      classes = format.class_names(shards.front());
    const SourceInfo info =
        describe_shards(cat(format.name, ":", pattern), index, classes);
    return std::make_shared<ShardSource>(format, std::move(index), info);
  };
  Splits made;
  if (parts.val.empty()) {
    made = divide(open(parts.train), options);
  } else {
    made.train = open(parts.train);
    made.val = open(parts.val);
  }
  if (parts.test.empty()) return made;
  made.test = cat(format.name, ":{", join(parts.test, ","), "}");
  if (parts.val.empty() && made.val != nullptr)
    made.notes.push_back(
        cat("no shard of ",
            pattern,
            " is for validation: part of the training shards validates"));
  return made;
}

} // namespace temper::data
