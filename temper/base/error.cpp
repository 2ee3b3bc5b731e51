#include "temper/base/error.h"

#include <utility>

#include "temper/base/text.h"

namespace temper {

Error::Error(const std::string& what, std::string hint)
    : std::runtime_error(what), hint_(std::move(hint)) {}

void check(bool holds, const char* invariant, std::source_location where) {
  if (holds) return;
  throw Bug(
      cat("broken invariant: ",
          invariant,
          " (",
          where.file_name(),
          ":",
          where.line(),
          ")"));
}

}  // namespace temper
