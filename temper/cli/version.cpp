#include "temper/cli/version.h"

#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "temper_commit.h"

namespace temper::cli {

std::string version_text() {
  const auto facts = libtorch::facts();
  return cat(
      "temper ",
      TEMPER_VERSION,
      " (commit ",
      TEMPER_COMMIT,
      ")\nLibTorch ",
      facts.present ? facts.version : "none",
      facts.present && facts.version != facts.built_with
          ? cat(" (compiled for ", facts.built_with, ")")
          : "",
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
