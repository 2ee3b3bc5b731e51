#include "temper/base/file/zip_file.h"

#include <zip.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/file/zip_directory.h"
#include "temper/base/text.h"

namespace temper {
namespace {

constexpr zip_int64_t kMostEntries = 100'000;
// No deflate stream expands more than this.
constexpr std::uint64_t kDeflateLimit = 1032;

struct Discard {
  void operator()(zip_t* archive) const {
    zip_discard(archive);
  }
  void operator()(zip_file_t* file) const {
    zip_fclose(file);
  }
};

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

// "a and b", the first two that share bytes; empty when none do.
std::string overlapping(const std::vector<ZipPlace>& places) {
  std::vector<const ZipPlace*> order;
  for (const auto& place : places)
    order.push_back(&place);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->header_offset < b->header_offset;
  });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->data_offset + order[i - 1]->packed_bytes >
        order[i]->header_offset)
      return cat(order[i - 1]->name, " and ", order[i]->name);
  return "";
}

} // namespace

struct ZipFile::Archive {
  std::shared_ptr<MappedFile> file;
  std::unique_ptr<zip_t, Discard> zip;
};

ZipFile::ZipFile(std::filesystem::path path, std::string room, std::string hint)
    : path_(std::move(path)),
      room_(std::move(room)),
      hint_(std::move(hint)),
      archive_(std::make_unique<Archive>()) {
  archive_->file = std::make_shared<MappedFile>(path_);
  const auto bytes = archive_->file->bytes();
  // libzip reads the same bytes that we map: nobody can change the file
  // between.
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source =
      zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) refuse(text_of(error));
  archive_->zip.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!archive_->zip) {
    zip_source_free(source);
    refuse(text_of(error));
  }
  zip_error_fini(&error);
  take_entries();
}

ZipFile::~ZipFile() = default;

void ZipFile::refuse(const std::string& why) const {
  throw Error(
      cat("[", room_, "] cannot read ", path_.string(), ": ", why, "."), hint_);
}

void ZipFile::take_entries() {
  zip_t* zip = archive_->zip.get();
  const auto count = zip_get_num_entries(zip, 0);
  if (count > kMostEntries) refuse("it has too many members");
  const auto places = zip_places(archive_->file->bytes());
  if (!places || places->size() != static_cast<std::size_t>(count))
    refuse("its directory is damaged");
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const ZipPlace& place = (*places)[index];
    zip_stat_t about;
    zip_stat_init(&about);
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE |
        ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD |
        ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(zip, index, ZIP_FL_ENC_RAW, &about) != 0 ||
        (about.valid & kNeeded) != kNeeded || place.name != about.name ||
        place.bytes != about.size || place.packed_bytes != about.comp_size)
      refuse("its directory contradicts itself");
    if (about.encryption_method != ZIP_EM_NONE)
      refuse(cat(place.name, " is encrypted"));
    Entry entry;
    entry.name = place.name;
    entry.bytes = place.bytes;
    entry.packed_bytes = place.packed_bytes;
    entry.stored = about.comp_method == ZIP_CM_STORE;
    entry.offset = place.data_offset;
    entry.crc = about.crc;
    if (entry.stored ? entry.bytes != entry.packed_bytes
                     : entry.bytes / kDeflateLimit > entry.packed_bytes)
      refuse(
          cat(entry.name,
              " announces ",
              bytes_text(entry.bytes),
              ", more than its ",
              bytes_text(entry.packed_bytes),
              " can unpack to"));
    if (!places_.emplace(entry.name, entries_.size()).second)
      refuse(cat("it has two members ", entry.name));
    entries_.push_back(std::move(entry));
  }
  if (const auto pair = overlapping(*places); !pair.empty())
    refuse(cat(pair, " overlap"));
}

const ZipFile::Entry* ZipFile::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

SharedBytes ZipFile::read(const Entry& entry) const {
  if (!entry.stored) return unpack(entry, places_.at(entry.name));
  const auto bytes = archive_->file->bytes().subspan(entry.offset, entry.bytes);
  if (zip_checksum(bytes) != entry.crc)
    refuse(cat(entry.name, " is damaged: its checksum differs"));
  return {
      std::shared_ptr<const std::byte>(
          archive_->file, reinterpret_cast<const std::byte*>(bytes.data())),
      bytes.size()};
}

SharedBytes ZipFile::unpack(const Entry& entry, std::uint64_t index) const {
  const std::unique_ptr<zip_file_t, Discard> file(
      zip_fopen_index(archive_->zip.get(), index, 0));
  if (!file) refuse(cat(entry.name, ": ", zip_strerror(archive_->zip.get())));
  // One byte more than announced, to see that there is none.
  auto bytes = std::make_shared<std::vector<std::byte>>(entry.bytes + 1);
  std::uint64_t got = 0;
  while (got < bytes->size()) {
    const auto read =
        zip_fread(file.get(), bytes->data() + got, bytes->size() - got);
    if (read < 0) refuse(cat(entry.name, ": ", zip_file_strerror(file.get())));
    if (read == 0) break;
    got += static_cast<std::uint64_t>(read);
  }
  if (got != entry.bytes)
    refuse(cat(entry.name, " is not as long as the archive says"));
  return {std::shared_ptr<const std::byte>(bytes, bytes->data()), entry.bytes};
}

} // namespace temper
