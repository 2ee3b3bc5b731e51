#include "temper/cli/commands/runs_gc.h"

#include "temper/base/checkpoint_name.h"
#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/journal/run_directory.h"
#include "temper/journal/run_summary.h"
#include "temper/session/tracked_run.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(folder, failed))
    if (entry.is_regular_file(failed)) bytes += entry.file_size(failed);
  return bytes;
}

std::vector<fs::path> checkpoints_of(const journal::RunDirectory& run) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run.checkpoints(), failed))
    if (entry.is_directory(failed) &&
        names_checkpoint(entry.path().filename().string()))
      found.push_back(entry.path());
  return found;
}

std::string named(const journal::RunDirectory& run, const char* pointer) {
  return std::string(
      trim(read_small_file(run.checkpoints() / pointer, 4096).value_or("")));
}

void add_run(const journal::RunDirectory& run, std::vector<Removable>& waste) {
  const auto summary = journal::summarise(run);
  if (summary.status == "running") return;
  if (summary.status == "failed") {
    waste.push_back({run.path, "failed", bytes_below(run.path)});
    return;
  }
  if (summary.status == "unfinished") {
    if (checkpoints_of(run).empty() && session::status_without_end(run))
      waste.push_back(
          {run.path,
           "killed before its first checkpoint",
           bytes_below(run.path)});
    return;
  }
  if (summary.status == "stopped") return; // --resume goes on
  const std::string best = named(run, "best");
  const std::string latest = named(run, "latest");
  if (best.empty() && latest.empty()) return;
  for (const fs::path& each : checkpoints_of(run)) {
    const std::string name = each.filename().string();
    if (name != best && name != latest)
      waste.push_back(
          {each, "an older checkpoint of a finished run", bytes_below(each)});
  }
}

} // namespace

std::vector<Removable> find_removable(const fs::path& directory, int keep) {
  std::vector<Removable> waste;
  const auto runs = journal::list_runs(directory);
  for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < runs.size(); ++i)
    add_run(runs[i], waste);
  return waste;
}

void remove_found(const std::vector<Removable>& waste) {
  for (const Removable& each : waste) {
    std::error_code failed;
    fs::remove_all(each.path, failed);
    if (failed)
      throw Error(
          cat("[runs] cannot remove ",
              each.path.string(),
              ": ",
              failed.message(),
              "."));
  }
}

} // namespace temper::cli
