#include <unistd.h>

#include <cerrno>

#include "temper/base/file/sync.h"

namespace temper {

bool sync_file(int descriptor) {
  int failed = 0;
  do
    failed = ::fsync(descriptor);
  while (failed != 0 && errno == EINTR);
  return failed == 0;
}

} // namespace temper
