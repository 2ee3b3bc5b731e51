#include <limits>

#include "temper/base/text.h"
#include "temper/doctor/checks.h"

namespace temper::doctor {
namespace {

constexpr const char* kLimitsGroup = "limits";
using Found = std::optional<Check>;

Found open_files(const Evidence& evidence) {
  const auto& files = evidence.machine.open_files;
  constexpr std::uint64_t kEnough = 1024;
  Check check{kLimitsGroup, "open files", "", Verdict::ok, "", ""};
  const bool unlimited =
      files.hard == std::numeric_limits<std::uint64_t>::max();
  check.found = cat(
      count_text(static_cast<std::int64_t>(files.soft)),
      " (hard limit ",
      unlimited ? "none" : count_text(static_cast<std::int64_t>(files.hard)),
      ")");
  if (files.soft >= kEnough) return check;
  if (files.hard >= kEnough) {
    check.verdict = Verdict::note;
    check.advice =
        "temper raises it for itself; other programs of this shell may stop "
        "with \"too many open files\" (ulimit -n 10240).";
  } else {
    check.verdict = Verdict::warn;
    check.advice =
        "The hard limit is low too: raise it (ulimit -Hn, or "
        "launchctl limit maxfiles on macOS).";
  }
  return check;
}

Found memory_limit(const Evidence& evidence) {
  const auto& memory = evidence.machine.memory;
  if (!memory.limit_bytes) return std::nullopt;
  Check check{kLimitsGroup, "memory limit", "", Verdict::note, "", ""};
  check.found =
      cat(bytes_text(*memory.limit_bytes),
          " of ",
          bytes_text(memory.physical_bytes),
          " (",
          memory.limit_source,
          ")");
  check.advice = "temper plans for the limit, not for the whole memory.";
  constexpr std::uint64_t kSmall = std::uint64_t{2} << 30;
  if (*memory.limit_bytes < kSmall) {
    check.verdict = Verdict::warn;
    check.advice =
        "That is little for training; give the container more memory "
        "(docker run --memory).";
  }
  return check;
}

Found cpu_limit(const Evidence& evidence) {
  const auto& cpu = evidence.machine.cpu;
  if (cpu.usable <= 0 || cpu.usable >= cpu.logical) return std::nullopt;
  return Check{
      kLimitsGroup,
      "CPU limit",
      cat(decimals(cpu.usable, 1), " of ", plural(cpu.logical, "core")),
      Verdict::note,
      "temper uses only these; a container's CPU quota or taskset set it.",
      ""};
}

Found watermarks(const Evidence& evidence) {
  const auto high =
      variable(evidence.environment, "PYTORCH_MPS_HIGH_WATERMARK_RATIO");
  if (!high) return std::nullopt;
  const auto low =
      variable(evidence.environment, "PYTORCH_MPS_LOW_WATERMARK_RATIO");
  Check check{
      kLimitsGroup,
      "MPS watermark",
      cat("PYTORCH_MPS_HIGH_WATERMARK_RATIO=", *high),
      Verdict::ok,
      "",
      ""};
  const auto ratio = parse_double(*high);
  if (!ratio || *ratio < 0 || *ratio > 2) {
    check.verdict = Verdict::bad;
    check.advice = "LibTorch takes a number from 0 to 2; unset it.";
  } else if (*ratio == 0) {
    check.verdict = Verdict::bad;
    check.advice =
        "0.0 removes the memory limit, and macOS stops the program (Killed: 9) "
        "or freezes. Unset it and use a smaller batch: temper splits batches "
        "by itself.";
    check.source = "rl-swarm#59";
  } else if (!low && *ratio < 1.4) {
    check.verdict = Verdict::warn;
    check.advice =
        cat("PyTorch scripts will stop with \"invalid low watermark ratio "
            "1.4\": set PYTORCH_MPS_LOW_WATERMARK_RATIO below ",
            *high,
            " too. temper does so for itself.");
    check.source = "sd-scripts#603";
  } else if (*ratio > 1) {
    check.verdict = Verdict::warn;
    check.advice =
        "Above 1.0 the Mac swaps before LibTorch reports that memory is out.";
    check.source = "pytorch#105839";
  }
  return check;
}

Found duplicate_openmp(const Evidence& evidence) {
  const auto value = variable(evidence.environment, "KMP_DUPLICATE_LIB_OK");
  if (!value) return std::nullopt;
  return Check{
      kLimitsGroup,
      "KMP_DUPLICATE_LIB_OK",
      cat("set to ", *value),
      Verdict::bad,
      "Unset it: it hides two OpenMP runtimes in one process, which can hang "
      "or give wrong results. temper does not train with it.",
      "pytorch#193520"};
}

Found thread_variables(const Evidence& evidence) {
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    const auto value = variable(evidence.environment, name);
    if (!value) continue;
    return Check{
        kLimitsGroup,
        name,
        cat("set to ", *value),
        Verdict::note,
        "temper sets LibTorch's threads itself and does not follow it; your "
        "own scripts do.",
        ""};
  }
  return std::nullopt;
}

} // namespace

std::vector<CheckFunction> limit_checks() {
  return {
      open_files,
      memory_limit,
      cpu_limit,
      watermarks,
      duplicate_openmp,
      thread_variables};
}

} // namespace temper::doctor
