#include <fcntl.h>
#include <unistd.h>

#include "temper/base/file/sync.h"

namespace temper {

bool sync_file(int descriptor) {
  // Not every file system knows it (network shares): then fsync is the best.
  if (::fcntl(descriptor, F_FULLFSYNC) == 0) return true;
  return ::fsync(descriptor) == 0;
}

} // namespace temper
