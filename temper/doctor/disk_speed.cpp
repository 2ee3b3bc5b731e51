// A short write and sync in the place where runs will be written. Checkpoints
// are durable only once synced, so that is what is timed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "temper/base/clock.h"
#include "temper/base/file/sync.h"
#include "temper/base/text.h"
#include "temper/doctor/evidence.h"

namespace temper::doctor {
namespace {

using Clock = std::chrono::steady_clock;

// An open file that removes itself.
class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& directory)
      : path_((directory / ".temper-disk-XXXXXX").string()),
        descriptor_(::mkstemp(path_.data())) {}
  ~ScratchFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  bool open() const {
    return descriptor_ >= 0;
  }

  bool write_all(const char* data, std::size_t size) const {
    while (size > 0) {
      const ssize_t written = ::write(descriptor_, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      data += written;
      size -= static_cast<std::size_t>(written);
    }
    return true;
  }

  bool sync() const {
    return sync_file(descriptor_);
  }

 private:
  std::string path_;
  int descriptor_;
};

DiskSpeed failed(const char* what) {
  DiskSpeed speed;
  speed.error = cat("cannot ", what, ": ", std::strerror(errno));
  return speed;
}

} // namespace

DiskSpeed measure_disk(
    const std::filesystem::path& directory,
    std::uint64_t bytes,
    double seconds) {
  const ScratchFile file(directory);
  if (!file.open()) return failed("create a file");

  // Not all zeros: some file systems do not store those.
  std::vector<char> chunk(std::size_t{1} << 20);
  for (std::size_t i = 0; i < chunk.size(); ++i)
    chunk[i] = static_cast<char>(i * 2654435761U >> 13);

  DiskSpeed speed;
  auto begin = Clock::now();
  if (!file.write_all(chunk.data(), 4096)) return failed("write");
  if (!file.sync()) return failed("fsync");
  speed.fsync_s = seconds_since(begin);

  // Synced every few chunks: the time limit holds on a slow disk too, where
  // the cache would swallow everything at once and one fsync take minutes.
  constexpr int kChunksPerSync = 8;
  std::uint64_t written = 0;
  begin = Clock::now();
  while (written < bytes && seconds_since(begin) < seconds) {
    for (int i = 0; i < kChunksPerSync && written < bytes; ++i) {
      if (!file.write_all(chunk.data(), chunk.size())) return failed("write");
      written += chunk.size();
    }
    if (!file.sync()) return failed("fsync");
  }
  speed.write_bytes_per_s =
      static_cast<double>(written) / std::max(seconds_since(begin), 1e-9);
  return speed;
}

} // namespace temper::doctor
