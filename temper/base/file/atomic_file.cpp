#include "temper/base/file/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/file/sync.h"
#include "temper/base/text.h"

namespace temper {
namespace {

[[noreturn]] void refuse_to_write(
    const std::filesystem::path& path,
    const char* what) {
  throw Error(
      cat("cannot ", what, " ", path.string(), ": ", std::strerror(errno), "."),
      errno == ENOSPC ? "Free some disk space, or write elsewhere." : "");
}

} // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)),
      temporary_(cat(path_.string(), ".tmp.", ::getpid())) {
  descriptor_ = ::open(
      temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse_to_write(path_, "create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  write_at(size_, data, bytes);
}

void AtomicFile::write(std::string_view text) {
  write(text.data(), text.size());
}

void AtomicFile::write_at(
    std::uint64_t offset,
    const void* data,
    std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written =
        ::pwrite(descriptor_, at, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_to_write(path_, "write");
    at += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  size_ = std::max(size_, offset);
}

void AtomicFile::commit() {
  if (!sync_file(descriptor_)) refuse_to_write(path_, "sync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    refuse_to_write(path_, "rename");
  ::close(std::exchange(descriptor_, -1));
  if (!sync_directory(path_.parent_path()))
    refuse_to_write(path_, "sync the folder of");
}

void write_file_atomically(
    const std::filesystem::path& path,
    std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

} // namespace temper
