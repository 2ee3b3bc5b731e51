#include "temper/cli/terminal/version.h"

#include "temper/base/text.h"
#include "temper_commit.h"

namespace temper::cli {

std::string version_text() {
  return cat(
      "temper ",
      TEMPER_VERSION,
      " (commit ",
      TEMPER_COMMIT,
      ")\nLibTorch ",
      TEMPER_LIBTORCH,
      "\n",
      TEMPER_COMPILER,
      ", ",
      TEMPER_BUILD_TYPE,
      "\n");
}

std::string version_line() {
  return TEMPER_VERSION;
}

} // namespace temper::cli
