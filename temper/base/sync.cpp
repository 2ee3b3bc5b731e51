#include "temper/base/sync.h"

#include <fcntl.h>
#include <unistd.h>

namespace temper {

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

} // namespace temper
