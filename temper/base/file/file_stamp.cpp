#include "temper/base/file/file_stamp.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "temper/base/digest/hash.h"

namespace temper {
namespace {

// FAT keeps times in steps of two seconds; the others are finer.
constexpr std::int64_t kSettled_ns = 2'000'000'000;

std::int64_t ns_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The members have other names on a Mac than POSIX gives them.
template <class Status>
std::int64_t modified_ns(const Status& status) {
  if constexpr (requires { status.st_mtimespec; })
    return ns_of(status.st_mtimespec);
  else
    return ns_of(status.st_mtim);
}

template <class Status>
std::int64_t changed_ns(const Status& status) {
  if constexpr (requires { status.st_ctimespec; })
    return ns_of(status.st_ctimespec);
  else
    return ns_of(status.st_ctim);
}

template <class Status>
std::optional<FileStamp> stamp_of(const Status& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return FileStamp{
      static_cast<std::uint64_t>(status.st_size),
      modified_ns(status),
      changed_ns(status),
      static_cast<std::uint64_t>(status.st_ino)};
}

} // namespace

std::uint64_t FileStamp::hash() const {
  const std::array<std::uint64_t, 4> all{
      bytes,
      static_cast<std::uint64_t>(modified_ns),
      static_cast<std::uint64_t>(changed_ns),
      inode};
  return hash64(all.data(), sizeof all);
}

bool FileStamp::is_settled(std::int64_t now_ns) const {
  return std::max(modified_ns, changed_ns) + kSettled_ns < now_ns;
}

std::optional<FileStamp> file_stamp(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return stamp_of(status);
}

std::optional<FileStamp> file_stamp(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return stamp_of(status);
}

std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

} // namespace temper
