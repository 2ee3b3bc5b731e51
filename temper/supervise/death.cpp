#include "temper/supervise/death.h"

#include <csignal>
#include <utility>

#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"

namespace temper::supervise {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;

constexpr std::pair<int, const char*> kSignals[] = {
    {SIGABRT, "SIGABRT"},
    {SIGALRM, "SIGALRM"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGHUP, "SIGHUP"},
    {SIGILL, "SIGILL"},
    {SIGINT, "SIGINT"},
    {SIGKILL, "SIGKILL"},
    {SIGPIPE, "SIGPIPE"},
    {SIGQUIT, "SIGQUIT"},
    {SIGSEGV, "SIGSEGV"},
    {SIGSYS, "SIGSYS"},
    {SIGTERM, "SIGTERM"},
    {SIGTRAP, "SIGTRAP"},
    {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"},
};

// "it used 3.1 GiB, 2.0 GiB ten seconds before"
std::string memory_text(const std::vector<std::uint64_t>& memory) {
  if (memory.empty()) return "";
  constexpr std::size_t kBack = 10; // samples, a second each
  std::string text = cat("it used ", bytes_text(memory.back()));
  if (memory.size() > kBack)
    text +=
        cat(", and ",
            bytes_text(memory[memory.size() - 1 - kBack]),
            " ",
            kBack,
            " s before");
  return text;
}

std::string reason(const Death& death) {
  if (death.memory_kills > 0)
    return "the kernel killed it because memory ran out";
  if (contains(death.kernel, "illed process"))
    return "the kernel killed it because memory ran out";
  switch (death.signal) {
    case SIGKILL:
      return "somebody killed it, or a system that was short of memory";
    case SIGALRM:
      return "it hung, and could not even report it";
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE:
    case SIGABRT:
    case SIGSYS:
    case SIGTRAP:
      return "it crashed";
    default:
      return "";
  }
}

} // namespace

std::string signal_name(int signal) {
  for (const auto& [number, name] : kSignals)
    if (number == signal) return name;
  return cat("signal ", signal);
}

std::string describe(const Death& death) {
  std::vector<std::string> parts;
  for (std::string part : {reason(death), memory_text(death.memory_bytes)})
    if (!part.empty()) parts.push_back(std::move(part));
  if (!death.kernel.empty())
    parts.push_back(cat("the kernel says: ", death.kernel));
  const std::string where = death.update < 0
      ? std::string(" before its first step")
      : cat(" in step ", count_text(death.update + 1));
  const std::string how = death.signal != 0
      ? cat("died of ", signal_name(death.signal))
      : death.code == kStartAgain ? std::string("asked to be started again")
                                  : cat("ended with code ", death.code);
  return cat(
      how,
      where,
      death.doing.empty() ? "" : cat(" while ", death.doing),
      parts.empty() ? "" : ": ",
      join(parts, "; "));
}

journal::Event death_event(const Death& death) {
  journal::Event event;
  event.kind = kinds::kDeath;
  event.fields = {
      {fields::kWhy, describe(death)},
      {fields::kUpdate, death.update},
  };
  if (death.signal != 0)
    event.fields.emplace_back(fields::kSignal, signal_name(death.signal));
  else
    event.fields.emplace_back(
        fields::kCode, static_cast<std::int64_t>(death.code));
  if (!death.doing.empty())
    event.fields.emplace_back(fields::kPhase, death.doing);
  if (!death.memory_bytes.empty())
    event.fields.emplace_back(
        fields::kMemoryBytes,
        static_cast<std::int64_t>(death.memory_bytes.back()));
  if (death.memory_kills > 0)
    event.fields.emplace_back(fields::kMemoryKills, death.memory_kills);
  if (!death.kernel.empty())
    event.fields.emplace_back(fields::kKernel, death.kernel);
  return event;
}

} // namespace temper::supervise
