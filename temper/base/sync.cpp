#include "temper/base/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace temper {

bool sync_directory(const std::filesystem::path& directory) {
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  const bool synced =
      ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
  ::close(descriptor);
  return synced;
}

} // namespace temper
