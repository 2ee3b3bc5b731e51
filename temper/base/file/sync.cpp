#include "temper/base/file/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace temper {

bool sync_directory(const std::filesystem::path& directory) {
  const char* path = directory.empty() ? "." : directory.c_str();
  int descriptor = -1;
  do
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  while (descriptor < 0 && errno == EINTR);
  // One may be allowed to write into a folder, but not to read it.
  if (descriptor < 0) return errno == EACCES;
  int failed = 0;
  do
    failed = ::fsync(descriptor);
  while (failed != 0 && errno == EINTR);
  const bool synced = failed == 0 || errno == EINVAL || errno == ENOTSUP;
  ::close(descriptor);
  return synced;
}

} // namespace temper
