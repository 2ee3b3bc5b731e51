#include "temper/journal/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "temper/base/clock.h"
#include "temper/base/error.h"
#include "temper/base/file/sync.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::journal {
namespace {

// A line longer than this is no event of ours; a follower passes over it.
constexpr std::size_t kLongestLine = std::size_t{16} << 20;
// So much is held back while the disk takes nothing: days of a run.
constexpr std::size_t kMostHeld = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;

[[noreturn]] void refuse(
    const std::filesystem::path& path,
    const std::string& what,
    int code,
    const std::string& hint =
        "Make room or choose another place with run.dir.") {
  throw Error(
      cat("[journal] cannot ",
          what,
          " ",
          path.string(),
          ": ",
          std::strerror(code),
          "."),
      hint);
}

[[noreturn]] void refuse_opened(
    const std::filesystem::path& path,
    const std::string& what,
    int code) {
  refuse(
      path,
      what,
      code,
      cat("Make room and go on from the last checkpoint: temper train "
          "--resume ",
          path.parent_path().string(),
          "."));
}

// Where the last whole line ends; what is behind it was cut off by a crash.
std::uint64_t end_of_lines(int descriptor, std::uint64_t size) {
  std::string piece;
  while (size > 0) {
    const std::uint64_t begin = size > kPiece ? size - kPiece : 0;
    piece.resize(size - begin);
    const ssize_t got = pread(
        descriptor, piece.data(), piece.size(), static_cast<off_t>(begin));
    if (got <= 0) return size;
    const auto newline = piece.rfind('\n', static_cast<std::size_t>(got) - 1);
    if (newline != std::string::npos) return begin + newline + 1;
    size = begin;
  }
  return 0;
}

} // namespace

Journal::Journal(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) refuse(path_, "open", errno);
  struct stat about {};
  if (fstat(descriptor_, &about) != 0) refuse(path_, "open", errno);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  offset_ = end_of_lines(descriptor_, size);
  if (offset_ < size &&
      ftruncate(descriptor_, static_cast<off_t>(offset_)) != 0)
    refuse(path_, "mend", errno);
}

Journal::~Journal() {
  if (descriptor_ < 0) return;
  write_held();
  close(descriptor_);
}

// The error code of what could not be written; 0: nothing is held any more.
int Journal::write_held() {
  std::size_t written = 0;
  int code = 0;
  while (written < held_.size() && code == 0) {
    const ssize_t count = pwrite(
        descriptor_,
        held_.data() + written,
        held_.size() - written,
        static_cast<off_t>(offset_ + written));
    if (count > 0)
      written += static_cast<std::size_t>(count);
    else if (count == 0 || errno != EINTR)
      code = count == 0 ? ENOSPC : errno;
  }
  if (code != 0) {
    // Half a line must not stay; should this fail too, the next start mends.
    [[maybe_unused]] const int mended =
        ftruncate(descriptor_, static_cast<off_t>(offset_));
    return code;
  }
  offset_ += written;
  held_.clear();
  return 0;
}

void Journal::append(Event event) {
  if (event.time_s == 0) event.time_s = seconds_since_1970();
  const std::lock_guard lock(mutex_);
  const bool held_before = !held_.empty();
  held_ += to_line(event) + "\n";
  const int code = write_held();
  if (code == 0) return;
  if (held_.size() > kMostHeld) refuse_opened(path_, "write", code);
  if (!held_before)
    log::warn(
        cat("[journal] cannot write ",
            path_.string(),
            ": ",
            std::strerror(code),
            ". Its lines are kept in memory until it can be."));
}

void Journal::sync() {
  {
    const std::lock_guard lock(mutex_);
    if (const int code = write_held(); code != 0)
      refuse_opened(path_, "write", code);
  }
  // Not under the lock: who appends does not wait for the disk.
  if (!sync_file(descriptor_)) refuse_opened(path_, "sync", errno);
}

std::uint64_t Journal::offset() const {
  const std::lock_guard lock(mutex_);
  return offset_ + held_.size();
}

std::uint64_t Journal::line_end(std::uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  return end_of_lines(descriptor_, std::min(offset, offset_));
}

void Journal::truncate(std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  if (offset > offset_)
    throw Error(
        cat("[journal] ",
            path_.string(),
            " ends before the checkpoint: it has ",
            offset_,
            " bytes, not ",
            offset,
            "."));
  char last = '\n';
  if (offset > 0 &&
      pread(descriptor_, &last, 1, static_cast<off_t>(offset - 1)) != 1)
    refuse(path_, "read", errno);
  if (last != '\n')
    throw Error(
        cat("[journal] ",
            path_.string(),
            " has no end of a line at byte ",
            offset,
            ": it is not the journal of this checkpoint."));
  if (ftruncate(descriptor_, static_cast<off_t>(offset)) != 0)
    refuse(path_, "shorten", errno);
  offset_ = offset;
}

Follower::Follower(std::filesystem::path path, std::uint64_t offset)
    : path_(std::move(path)), offset_(offset) {}

std::vector<Event> Follower::read(std::size_t most) {
  std::vector<Event> events;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset_));
  std::string line;
  // A last line without its end is still being written: it is left alone.
  while (events.size() < most && std::getline(file, line) && !file.eof()) {
    offset_ += line.size() + 1;
    auto event = line.size() > kLongestLine ? std::nullopt : from_line(line);
    if (event)
      events.push_back(std::move(*event));
    else
      ++unreadable_;
  }
  return events;
}

std::vector<Event> read_journal(const std::filesystem::path& path) {
  Follower follower(path);
  std::vector<Event> events;
  for (;;) {
    auto more = follower.read();
    if (more.empty()) return events;
    for (Event& event : more)
      events.push_back(std::move(event));
  }
}

} // namespace temper::journal
