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
using TarBlock = std::array<char, kTarBlock>;

struct TarEntry {
  std::string name;
  std::uint64_t bytes = 0;
  char kind = '0';

  bool plain_file() const {
    return kind == '0' || kind == '\0';
  }
};

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

std::string_view
field(const TarBlock& block, std::size_t at, std::size_t size) {
  const std::string_view all(block.data() + at, size);
  return all.substr(0, all.find('\0'));
}

std::optional<std::uint64_t> octal(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.size() > 12) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value * 8 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

// The sum of the header's bytes, its own field counted as blanks.
bool block_sum_fits(const TarBlock& block) {
  constexpr std::size_t kAt = 148;
  std::uint64_t sum = 8 * std::uint64_t{' '};
  for (std::size_t i = 0; i < block.size(); ++i)
    if (i < kAt || i >= kAt + 8) sum += static_cast<unsigned char>(block[i]);
  return octal(field(block, kAt, 8)) == sum;
}

// The next entry; no value at the end of the archive.
std::optional<TarEntry> next_entry(GzipFile& file) {
  TarBlock block;
  file.read(block.data(), block.size());
  if (std::all_of(block.begin(), block.end(), [](char c) { return c == 0; }))
    return std::nullopt;
  if (!block_sum_fits(block)) file.damaged("a header's checksum is wrong");
  TarEntry entry;
  entry.name = field(block, 0, 100);
  entry.kind = block[156];
  if (field(block, 257, 5) == "ustar")
    if (const auto prefix = field(block, 345, 155); !prefix.empty())
      entry.name = cat(prefix, "/", entry.name);
  const auto bytes = octal(field(block, 124, 12));
  if (!bytes) file.damaged("a header's size is not a number");
  entry.bytes = *bytes;
  if (starts_with(entry.name, "./")) entry.name.erase(0, 2);
  return entry;
}

bool leads_outside(const std::string& name) {
  if (starts_with(name, "/")) return true;
  const auto parts = split(name, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

// The data of an entry, rounded up to whole blocks, to `sink`.
template <class Sink>
void read_data(GzipFile& file, std::uint64_t bytes, const Sink& sink) {
  std::array<char, 128 * kTarBlock> buffer;
  while (bytes > 0) {
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size()));
    file.read(buffer.data(), (wanted + kTarBlock - 1) / kTarBlock * kTarBlock);
    sink(buffer.data(), wanted);
    bytes -= wanted;
  }
}

} // namespace

void unpack_tar_gz(
    const fs::path& archive,
    const fs::path& folder,
    const std::vector<ArchiveMember>& members,
    const std::function<void(std::uint64_t bytes)>& progress) {
  GzipFile file(archive);
  std::set<std::string> missing;
  for (const auto& member : members)
    missing.insert(member.name);
  std::uint64_t written = 0;
  while (!missing.empty()) {
    const auto entry = next_entry(file);
    if (!entry) break;
    if (leads_outside(entry->name))
      file.damaged(cat("\"", entry->name, "\" leads out of the folder"));
    const auto member = std::find_if(
        members.begin(), members.end(), [&](const ArchiveMember& known) {
          return known.name == entry->name;
        });
    if (member == members.end()) {
      read_data(file, entry->bytes, [](const char*, std::size_t) {});
      continue;
    }
    if (!entry->plain_file())
      file.damaged(cat(entry->name, " is not a plain file"));
    if (entry->bytes > member->limit_bytes)
      file.damaged(cat(entry->name, " is larger than it should be"));
    const fs::path path = folder / entry->name;
    fs::create_directories(path.parent_path());
    AtomicFile out(path);
    read_data(file, entry->bytes, [&](const char* data, std::size_t bytes) {
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
