#include "temper/data/feature/feature_store.h"

#include <algorithm>
#include <chrono>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/fetch/locate.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;
using FileClock = fs::file_time_type::clock;

constexpr const char* kExtension = ".features";
// A file that somebody may be writing just now.
constexpr double kYoung_s = 3600;

std::uint64_t bytes_in(const std::vector<KeptFeatures>& kept) {
  std::uint64_t bytes = 0;
  for (const auto& each : kept)
    bytes += each.bytes;
  return bytes;
}

bool may_go(const KeptFeatures& each) {
  return each.path.extension() == kExtension || each.unused_s > kYoung_s;
}

} // namespace

fs::path feature_folder(const Environment& environment) {
  const fs::path cache = cache_directory(environment);
  return cache.empty() ? cache : cache / "features";
}

fs::path feature_path(const fs::path& folder, std::uint64_t key) {
  return folder / cat(std::hex, key, kExtension);
}

std::vector<KeptFeatures> list_features(const fs::path& folder) {
  std::vector<KeptFeatures> kept;
  std::error_code unreadable;
  for (fs::directory_iterator at(folder, unreadable), end;
       !unreadable && at != end;
       at.increment(unreadable)) {
    std::error_code gone; // by somebody else, meanwhile
    if (!at->is_regular_file(gone)) continue;
    KeptFeatures each;
    each.path = at->path();
    each.bytes = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (gone) continue;
    each.unused_s = std::max(
        0.0, std::chrono::duration<double>(FileClock::now() - used).count());
    each.about = read_feature_about(each.path);
    kept.push_back(std::move(each));
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) {
    return a.unused_s != b.unused_s ? a.unused_s < b.unused_s : a.path < b.path;
  });
  return kept;
}

ClearedFeatures clear_features(const fs::path& folder) {
  ClearedFeatures cleared;
  for (const auto& each : list_features(folder)) {
    std::error_code stays;
    if (!may_go(each) || !fs::remove(each.path, stays)) continue;
    ++cleared.files;
    cleared.bytes += each.bytes;
  }
  return cleared;
}

std::string make_room(
    const fs::path& folder,
    std::uint64_t bytes,
    std::uint64_t most_bytes) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  const auto space = fs::space(folder, problem);
  if (problem)
    return cat(folder.string(), " cannot be written: ", problem.message());
  auto kept = list_features(folder);
  std::uint64_t used = bytes_in(kept);
  const std::uint64_t reachable = used + space.available;
  const std::uint64_t most = most_bytes > 0 ? most_bytes : reachable / 4;
  if (bytes > most)
    return cat(
        "they would take ",
        bytes_text(bytes),
        ", and kept features may take ",
        bytes_text(most),
        most_bytes > 0 ? " (model.feature_bytes)"
                       : " here, a quarter of the free disk space");
  if (bytes > reachable)
    return cat(
        "they would take ",
        bytes_text(bytes),
        ", and the disk has ",
        bytes_text(space.available),
        " free");
  std::uint64_t available = space.available;
  for (; !kept.empty() && (used + bytes > most || bytes > available);
       kept.pop_back()) {
    const auto& oldest = kept.back();
    if (!may_go(oldest) || !fs::remove(oldest.path, problem)) continue;
    used -= oldest.bytes;
    available += oldest.bytes;
  }
  return "";
}

void mark_used(const fs::path& path) {
  std::error_code unimportant;
  fs::last_write_time(path, FileClock::now(), unimportant);
}

} // namespace temper::data
