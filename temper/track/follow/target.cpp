#include "temper/track/follow/target.h"

#include "temper/base/digest/hash.h"
#include "temper/base/hex.h"
#include "temper/base/text.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhatIsTaken =
    "Give sqlite:///FILE, file:FOLDER, an http(s):// address, or off.";

// Where user:password@ is; equal ends: nowhere.
std::pair<std::size_t, std::size_t> secrets_in(const std::string& url) {
  const auto begin = url.find("://");
  if (begin == std::string::npos) return {0, 0};
  const auto end = url.find_first_of("/?#", begin + 3);
  const auto at = url.substr(0, end).rfind('@');
  if (at == std::string::npos || at < begin + 3) return {0, 0};
  return {begin + 3, at + 1};
}

fs::path absolute(const fs::path& path, const fs::path& relative_to) {
  return fs::absolute(relative_to / path).lexically_normal();
}

// sqlite:///relative, sqlite:////absolute, as SQLAlchemy reads them.
Target sqlite_target(const std::string& uri, const fs::path& relative_to) {
  std::string path = uri.substr(7);
  if (path.starts_with("///"))
    path = path.substr(3);
  else if (path.starts_with("//"))
    path.clear();
  path = path.substr(0, path.find('?'));
  if (path.empty() || path == ":memory:")
    throw Error(
        cat("[track] ", uri, " names no file."),
        "Give three slashes before a path: sqlite:///mlflow.db.");
  Target made;
  made.kind = Target::Kind::sqlite;
  made.path = absolute(path, relative_to);
  made.shown = cat("sqlite:///", made.path.string());
  return made;
}

Target file_target(const std::string& path, const fs::path& relative_to) {
  Target made;
  made.kind = Target::Kind::file;
  made.path = absolute(path, relative_to);
  made.shown = cat("file://", made.path.string());
  return made;
}

std::string scheme_of(const std::string& uri) {
  const auto colon = uri.find(':');
  return colon == std::string::npos ? "" : lower(uri.substr(0, colon));
}

} // namespace

std::string Target::id() const {
  const char* name = kind == Kind::tensorboard ? "tensorboard" : "mlflow";
  const std::uint64_t hash = hash64(shown);
  std::string out = cat(name, "-");
  for (int i = 0; i < 8; ++i)
    out += kHexDigits[hash >> (4 * i) & 15];
  return out;
}

std::string without_secrets(const std::string& url) {
  const auto [begin, end] = secrets_in(url);
  return begin == end ? url : url.substr(0, begin) + url.substr(end);
}

Target parse_target(const std::string& uri, const fs::path& relative_to) {
  const std::string scheme = scheme_of(uri);
  if (scheme == "sqlite") return sqlite_target(uri, relative_to);
  if (scheme == "http" || scheme == "https") {
    Target made;
    made.kind = Target::Kind::http;
    made.url = uri;
    while (!made.url.empty() && made.url.back() == '/')
      made.url.pop_back();
    made.shown = without_secrets(made.url);
    if (made.shown.size() <= scheme.size() + 3)
      throw Error(cat("[track] ", made.shown, " names no server."));
    return made;
  }
  if (scheme == "tensorboard") {
    Target made = file_target(uri.substr(12), relative_to);
    made.kind = Target::Kind::tensorboard;
    made.shown = cat("tensorboard:", made.path.string());
    return made;
  }
  if (scheme == "file") {
    std::string path = uri.substr(5);
    if (path.starts_with("//")) path = path.substr(2);
    if (path.starts_with("localhost/")) path = path.substr(9);
    if (path.empty())
      throw Error(cat("[track] ", uri, " names no folder."), kWhatIsTaken);
    return file_target(path, relative_to);
  }
  if (scheme.empty() && !uri.empty() && contains(uri, "/"))
    return file_target(uri, relative_to);
  if (scheme == "databricks" || uri == "databricks")
    throw Error(
        "[track] a Databricks workspace is not written to directly.",
        "Keep the run in a local store, and export it from there.");
  throw Error(
      cat("[track] cannot write to ",
          scheme.empty() ? uri : cat("a ", scheme, ": address"),
          "."),
      kWhatIsTaken);
}

void check_options(const Options& options) {
  const auto [begin, end] = secrets_in(options.mlflow);
  if (begin != end)
    throw Error(
        cat("[track] track.mlflow = ",
            without_secrets(options.mlflow),
            " holds a password, and a run's config is written to files and "
            "to the server."),
        "Leave it out, and set MLFLOW_TRACKING_USERNAME and "
        "MLFLOW_TRACKING_PASSWORD.");
  targets_of(options, "runs/run");
}

std::vector<Target> targets_of(
    const Options& options,
    const fs::path& run_directory) {
  std::vector<Target> targets;
  const fs::path run = fs::absolute(run_directory).lexically_normal();
  const std::string named =
      variable_text(options.environment, "MLFLOW_TRACKING_URI");
  if (options.mlflow == "auto" && !named.empty()) {
    try {
      targets.push_back(parse_target(named));
    } catch (const Error& error) {
      throw Error(
          cat(error.what(), " MLFLOW_TRACKING_URI says so."), error.hint());
    }
  } else if (options.mlflow == "auto") {
    const fs::path beside = run.parent_path().parent_path() / "mlflow.db";
    targets.push_back(parse_target(cat("sqlite:///", beside.string())));
  } else if (options.mlflow != "off") {
    targets.push_back(parse_target(options.mlflow));
  }
  if (options.tensorboard == "off") return targets;
  targets.push_back(parse_target(
      options.tensorboard == "on"
          ? cat("tensorboard:", (run / "tensorboard").string())
          : cat("tensorboard:",
                (fs::absolute(options.tensorboard) / run.filename())
                    .string())));
  return targets;
}

FollowOptions follow_options(const Options& options, const Target& target) {
  FollowOptions made;
  if (target.kind == Target::Kind::tensorboard) return made;
  const Environment& environment = options.environment;
  made.adopt = variable_text(environment, "MLFLOW_RUN_ID");
  made.parent = options.parent;
  if (!options.experiment.empty()) {
    made.experiment = options.experiment;
    return made;
  }
  made.experiment_id = variable_text(environment, "MLFLOW_EXPERIMENT_ID");
  const std::string name = variable_text(environment, "MLFLOW_EXPERIMENT_NAME");
  if (!name.empty()) made.experiment = name;
  return made;
}

} // namespace temper::track
