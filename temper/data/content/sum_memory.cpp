#include "temper/data/content/sum_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "temper sums 1\n";
// A million files take 24 MiB; what is more was mostly replaced long ago.
constexpr std::size_t kMostSums = std::size_t{4} << 20;
constexpr std::size_t kMostFiles = 256;

using SumEntry = std::array<std::uint64_t, 3>; // path, stamp, sum

std::uint64_t key_of(const std::string& path) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(path, failed);
  return hash64(failed ? path : absolute.lexically_normal().string());
}

void remove_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    files.emplace_back(entry.last_write_time(failed), entry.path());
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size() - kMostFiles; ++i)
    fs::remove(files[i].second, failed);
}

} // namespace

SumMemory::SumMemory(const fs::path& folder, const fs::path& first) {
  if (folder.empty()) return;
  const std::uint64_t key = key_of(first.parent_path().string() + "/.");
  file_ = folder / cat(std::hex, key, ".sums");
  load();
}

void SumMemory::load() {
  const auto text =
      read_small_file(file_, kBegin.size() + kMostSums * sizeof(SumEntry) + 8);
  if (!text || text->size() < kBegin.size() + 8 ||
      !text->starts_with(std::string(kBegin)))
    return;
  const std::size_t bytes = text->size() - kBegin.size() - 8;
  const char* entries = text->data() + kBegin.size();
  std::uint64_t check = 0;
  std::memcpy(&check, entries + bytes, sizeof check);
  if (bytes % sizeof(SumEntry) != 0 || check != hash64(entries, bytes)) return;
  for (std::size_t at = 0; at < bytes; at += sizeof(SumEntry)) {
    SumEntry entry;
    std::memcpy(entry.data(), entries + at, sizeof entry);
    known_[entry[0]] = {entry[1], entry[2]};
  }
}

std::optional<std::uint64_t> SumMemory::recall(
    const std::string& path,
    const FileStamp& stamp) const {
  if (known_.empty()) return std::nullopt;
  const auto found = known_.find(key_of(path));
  if (found == known_.end() || found->second.stamp != stamp.hash())
    return std::nullopt;
  return found->second.sum;
}

void SumMemory::remember(
    const std::string& path,
    const FileStamp& stamp,
    std::uint64_t sum) {
  if (file_.empty()) return;
  if (known_.size() >= kMostSums) known_.clear();
  known_[key_of(path)] = {stamp.hash(), sum};
  changed_ = true;
}

void SumMemory::save() const {
  if (!changed_) return;
  std::string entries;
  entries.reserve(known_.size() * sizeof(SumEntry));
  for (const auto& [path, known] : known_) {
    const SumEntry entry{path, known.stamp, known.sum};
    entries.append(reinterpret_cast<const char*>(entry.data()), sizeof entry);
  }
  const std::uint64_t check = hash64(entries);
  try {
    fs::create_directories(file_.parent_path());
    AtomicFile file(file_);
    file.write(kBegin);
    file.write(entries);
    file.write(&check, sizeof check);
    file.commit();
    remove_oldest(file_.parent_path());
  } catch (const std::exception&) {
    // The next start reads the files again, no more.
  }
}

} // namespace temper::data
