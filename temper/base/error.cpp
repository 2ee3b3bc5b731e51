#include "temper/base/error.h"

#include <utility>

#include "temper/base/text.h"

namespace temper {

Error::Error(const std::string& what, std::string hint)
    : std::runtime_error(what), hint_(std::move(hint)) {}

void check(bool holds, const char* invariant, const char* file, int line) {
  if (holds) return;
  throw Bug(cat("broken invariant: ", invariant, " (", file, ":", line, ")"));
}

} // namespace temper
