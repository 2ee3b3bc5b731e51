#include "temper/data/fetch/locate.h"

namespace temper::data {

const char* home_cache_folder() {
  return ".cache";
}

} // namespace temper::data
