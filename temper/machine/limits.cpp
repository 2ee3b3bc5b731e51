#include "temper/machine/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace temper::machine {
namespace {

std::uint64_t value_or_unlimited(rlim_t value) {
  // RLIM_INFINITY is 2^63-1 on macOS.
  return value == RLIM_INFINITY ? std::numeric_limits<std::uint64_t>::max()
                                : static_cast<std::uint64_t>(value);
}

} // namespace

OpenFiles open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return {
      value_or_unlimited(limit.rlim_cur), value_or_unlimited(limit.rlim_max)};
}

std::optional<std::uint64_t> address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return static_cast<std::uint64_t>(limit.rlim_cur);
}

RaisedOpenFiles raise_open_files(std::uint64_t target) {
  RaisedOpenFiles raised{open_files(), {}};
  const std::uint64_t wanted = std::min(target, raised.before.hard);
  rlimit limit{};
  if (wanted > raised.before.soft && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = static_cast<rlim_t>(wanted);
    setrlimit(RLIMIT_NOFILE, &limit); // refused: `after` shows it
  }
  raised.after = open_files();
  return raised;
}

} // namespace temper::machine
