#include "temper/track/copy_artifact.h"

#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::track {

namespace fs = std::filesystem;

void copy_artifact(const Artifact& artifact, const fs::path& folder) {
  const fs::path to = folder / artifact.name;
  std::error_code failed;
  if (!fs::exists(artifact.file, failed) ||
      fs::equivalent(artifact.file, to, failed))
    return;
  // Waiting would not help, and all that comes behind it would wait, too.
  for (const fs::path& each : {artifact.file, to})
    if (fs::is_directory(each, failed)) {
      log::warn(
          cat("[track] the artifact ",
              artifact.name,
              " is not delivered: ",
              each.string(),
              " is a folder."));
      return;
    }
  fs::create_directories(to.parent_path(), failed);
  // Beside its name first: readers see all of it or nothing.
  const fs::path part =
      to.parent_path() / cat(".", to.filename().string(), ".part");
  failed.clear();
  fs::copy_file(
      artifact.file, part, fs::copy_options::overwrite_existing, failed);
  if (!failed) fs::rename(part, to, failed);
  if (!failed) return;
  const std::string why = failed.message();
  fs::remove(part, failed);
  throw Unavailable(
      cat("[track] cannot write ", to.string(), ": ", why, "."),
      "Make room, or look at the folder's rights.");
}

std::filesystem::path folder_in(const std::string& uri) {
  const std::string path = uri.starts_with("file://") ? uri.substr(7) : uri;
  return path.starts_with("/") ? path : "";
}

} // namespace temper::track
