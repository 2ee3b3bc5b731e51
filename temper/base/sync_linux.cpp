#include <unistd.h>

#include "temper/base/sync.h"

namespace temper {

bool sync_file(int descriptor) {
  return ::fsync(descriptor) == 0;
}

} // namespace temper
