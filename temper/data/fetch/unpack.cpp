#include "temper/data/fetch/unpack.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/text.h"
#include "temper/data/format/tar_header.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

class GzipFile {
 public:
  explicit GzipFile(const fs::path& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), &gzclose) {
    if (!file_) throw Error(cat("[data] cannot open ", path.string(), "."));
    gzbuffer(file_.get(), 1 << 17);
  }
  [[noreturn]] void damaged(const std::string& why) const {
    throw Error(
        cat("[data] ", path_.string(), " cannot be unpacked: ", why, "."),
        "Remove it and get it again.");
  }
  // All of it, or an Error.
  void read(void* data, std::size_t bytes) {
    const int got = gzread(file_.get(), data, static_cast<unsigned>(bytes));
    if (got < 0 || static_cast<std::size_t>(got) != bytes)
      damaged(got < 0 ? "the gzip data are corrupt" : "it is truncated");
  }

 private:
  fs::path path_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file_;
};

// The data of an entry, rounded up to whole blocks, to `sink`.
template <class Sink>
void read_data(GzipFile& file, std::uint64_t bytes, const Sink& sink) {
  std::array<char, 128 * kTarBlock> buffer;
  while (bytes > 0) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size()));
    file.read(buffer.data(), whole_blocks(wanted));
    sink(buffer.data(), wanted);
    bytes -= wanted;
  }
}

// The members of an archive, one after the other.
class TarStream {
 public:
  explicit TarStream(GzipFile& file) : file_(file) {}

  // No value at the end of the archive.
  std::optional<TarHeader> next() {
    std::array<std::uint8_t, kTarBlock> block;
    for (;;) {
      file_.read(block.data(), block.size());
      if (is_empty_block(block)) return std::nullopt;
      auto header = headers_.next(block);
      if (!header) file_.damaged("a header's checksum is wrong");
      if (!header->size) file_.damaged("a header's size is not a number");
      if (header->is_note()) {
        take_note(*header);
        continue;
      }
      if (header->name.starts_with("./")) header->name.erase(0, 2);
      return header;
    }
  }

 private:
  void take_note(const TarHeader& header) {
    if (*header.size > kMostTarNote) file_.damaged("a name is absurdly long");
    std::string contents;
    read_data(file_, *header.size, [&](const char* data, std::size_t bytes) {
      contents.append(data, bytes);
    });
    if (!headers_.take_note(header, contents))
      file_.damaged("a pax record is damaged");
  }

  GzipFile& file_;
  TarHeaders headers_;
};

bool leads_outside(const std::string& name) {
  if (name.starts_with('/')) return true;
  const auto parts = split(name, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

} // namespace

void unpack_tar_gz(
    const fs::path& archive,
    const fs::path& folder,
    const std::vector<ArchiveMember>& members,
    const std::function<void(std::uint64_t bytes)>& progress) {
  GzipFile file(archive);
  TarStream stream(file);
  std::set<std::string> missing;
  for (const auto& member : members)
    missing.insert(member.name);
  std::uint64_t written = 0;
  while (!missing.empty()) {
    const auto entry = stream.next();
    if (!entry) break;
    if (leads_outside(entry->name))
      file.damaged(cat("\"", entry->name, "\" leads out of the folder"));
    const auto member = std::find_if(
        members.begin(), members.end(), [&](const ArchiveMember& known) {
          return known.name == entry->name;
        });
    if (member == members.end()) {
      read_data(file, *entry->size, [](const char*, std::size_t) {});
      continue;
    }
    if (!entry->is_file())
      file.damaged(cat(entry->name, " is not a plain file"));
    if (*entry->size > member->limit_bytes)
      file.damaged(cat(entry->name, " is larger than it should be"));
    const fs::path path = folder / entry->name;
    fs::create_directories(path.parent_path());
    AtomicFile out(path);
    read_data(file, *entry->size, [&](const char* data, std::size_t bytes) {
      out.write(data, bytes);
      written += bytes;
      if (progress) progress(written);
    });
    out.commit();
    missing.erase(entry->name);
  }
  if (!missing.empty()) file.damaged(cat(*missing.begin(), " is not in it"));
}

} // namespace temper::data
