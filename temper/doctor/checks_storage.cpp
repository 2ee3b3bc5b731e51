#include "temper/base/text.h"
#include "temper/doctor/checks.h"

namespace temper::doctor {
namespace {

constexpr const char* kStorageGroup = "storage";
using Found = std::optional<Check>;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

Found disk_space(const Evidence& evidence) {
  const auto& disk = evidence.machine.disk;
  if (disk.total_bytes == 0) return std::nullopt;
  Check check{kStorageGroup, "disk space", "", Verdict::ok, "", ""};
  check.found =
      cat(bytes_text(disk.free_bytes),
          " free of ",
          bytes_text(disk.total_bytes),
          disk.filesystem.empty() ? "" : cat(" (", disk.filesystem, ")"),
          " at ",
          disk.path);
  if (disk.free_bytes >= 5 * kGiB) return check;
  check.verdict = disk.free_bytes < kGiB ? Verdict::bad : Verdict::warn;
  check.advice =
      "Checkpoints and datasets need room: free some, or write runs elsewhere "
      "(run.dir).";
  return check;
}

Found disk_speed(const Evidence& evidence) {
  if (!evidence.disk) return std::nullopt;
  const DiskSpeed& speed = *evidence.disk;
  Check check{kStorageGroup, "disk speed", "", Verdict::ok, "", ""};
  if (!speed.error.empty()) {
    check.found = cat(speed.error, " at ", evidence.machine.disk.path);
    check.verdict = Verdict::bad;
    check.advice =
        "Runs cannot be saved there: choose a directory you may write to "
        "(run.dir).";
    return check;
  }
  check.found =
      cat("written and synced at ",
          bytes_text(static_cast<std::uint64_t>(speed.write_bytes_per_s)),
          "/s, one small fsync ",
          seconds_text(speed.fsync_s));
  constexpr double kSlowBytes = 20.0 * (1 << 20);
  constexpr double kSlowSync = 0.5;
  if (speed.write_bytes_per_s >= kSlowBytes && speed.fsync_s <= kSlowSync)
    return check;
  check.verdict = Verdict::warn;
  check.advice =
      "A checkpoint of 100 MB would take seconds: write runs to a local disk "
      "(run.dir), not to a network share or a memory card.";
  return check;
}

} // namespace

std::vector<CheckFunction> storage_checks() {
  return {disk_space, disk_speed};
}

} // namespace temper::doctor
