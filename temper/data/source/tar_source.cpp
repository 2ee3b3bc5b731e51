#include "temper/data/source/tar_source.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "temper/base/text.h"
#include "temper/data/format/tar_index.h"

namespace temper::data {
namespace {

// A label is a few digits; a JSON beside an image some lines.
constexpr std::uint64_t kMostLabelBytes = std::uint64_t{1} << 20;

struct NameParts {
  std::string_view key; // "folder/000123"
  std::string ending; // "jpg", "seg.png"; lower case
};

NameParts name_parts(std::string_view name) {
  const auto slash = name.rfind('/');
  const auto base = slash == std::string_view::npos ? 0 : slash + 1;
  const auto dot = name.find('.', base);
  if (dot == std::string_view::npos) return {name, ""};
  return {name.substr(0, dot), lower(name.substr(dot + 1))};
}

bool ends_as_image(const std::string& ending) {
  static const std::vector<std::string> endings{
      "jpg", "jpeg", "png", "webp", "bmp", "ppm", "pgm", "pbm", "pnm"};
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

std::optional<std::int64_t> label_in_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (!json.is_object()) return std::nullopt;
  for (const char* key : {"label", "cls", "class", "class_id", "class_index"}) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_number_integer())
      return found->get<std::int64_t>();
  }
  return std::nullopt;
}

// The earlier in this list, the more a member is believed.
enum class LabelKind { cls, json, txt, none };

LabelKind label_kind(const std::string& ending) {
  if (ending == "cls") return LabelKind::cls;
  if (ending == "json") return LabelKind::json;
  if (ending == "txt") return LabelKind::txt;
  return LabelKind::none;
}

// Puts the members of one shard together; they outlive it.
class Grouper {
 public:
  Grouper(Bytes tar, std::uint32_t shard, ShardIndex& index)
      : tar_(tar), shard_(shard), index_(index) {}

  void add(const TarMember& member) {
    const NameParts parts = name_parts(member.name);
    if (parts.key != key_) {
      finish();
      key_ = parts.key;
    }
    const LabelKind kind = label_kind(parts.ending);
    if (ends_as_image(parts.ending) && image_ == nullptr) {
      image_ = &member;
    } else if (kind < found_in_ && member.bytes <= kMostLabelBytes) {
      const auto label = label_in(member, kind);
      if (!label) return;
      label_ = kept_label(*label);
      found_in_ = kind;
    }
  }

  void finish() {
    if (image_ != nullptr) {
      // Too long for a sample; cut, so that reading it says so.
      const auto bytes = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(image_->bytes, UINT32_MAX));
      index_.entries.push_back({image_->offset, bytes, shard_, label_});
      index_.names.add(image_->name);
    }
    image_ = nullptr;
    label_ = ShardEntry::kNoLabel;
    found_in_ = LabelKind::none;
  }

 private:
  std::optional<std::int64_t> label_in(const TarMember& member, LabelKind kind)
      const {
    const Bytes bytes = tar_.subspan(member.offset, member.bytes);
    const std::string_view text(
        reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return kind == LabelKind::json ? label_in_json(text)
                                   : parse_int(trim(text));
  }

  Bytes tar_;
  std::uint32_t shard_;
  ShardIndex& index_;
  std::string key_;
  const TarMember* image_ = nullptr;
  std::int32_t label_ = ShardEntry::kNoLabel;
  LabelKind found_in_ = LabelKind::none;
};

void index_tar(Bytes tar, std::uint32_t shard, ShardIndex& index) {
  const std::vector<TarMember> members = read_tar_index(tar);
  Grouper grouper(tar, shard, index);
  for (const TarMember& member : members)
    grouper.add(member);
  grouper.finish();
}

void decode_tar_sample(
    const ShardEntry& entry,
    const WindowChooser* chooser,
    Sample& sample) {
  if (entry.label == ShardEntry::kNoLabel)
    throw BadSample("it has no label (a number in .cls, .json or .txt)");
  sample.label = entry.label;
  decode_sample(sample.encoded, chooser, sample);
}

constexpr ShardFormat kTar{
    "tar",
    "image",
    "A sample is 000.jpg (.png, .webp) with 000.cls beside it, which holds "
    "the number of its class.",
    0,
    index_tar,
    decode_tar_sample,
    nullptr};

} // namespace

const ShardFormat& tar_format() {
  return kTar;
}

Splits open_tar(const std::string& pattern, const OpenOptions& options) {
  return open_shards(kTar, pattern, options);
}

} // namespace temper::data
