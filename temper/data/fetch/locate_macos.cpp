#include "temper/data/fetch/locate.h"

namespace temper::data {

const char* home_cache_folder() {
  return "Library/Caches";
}

} // namespace temper::data
