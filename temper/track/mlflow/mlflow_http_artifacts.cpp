// Files on their way to a tracking server.
#include <nlohmann/json.hpp>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/track/copy_artifact.h"
#include "temper/track/mlflow/mlflow_http.h"

namespace temper::track {
namespace {

std::string content_type(const std::string& name) {
  static const std::vector<Pair> table{
      {".png", "image/png"},
      {".json", "application/json"},
      {".txt", "text/plain"},
      {".toml", "text/plain"},
      {".yaml", "text/plain"},
      {".csv", "text/csv"},
      {"MLmodel", "text/plain"}};
  for (const auto& [ending, type] : table)
    if (name.ends_with(ending)) return type;
  return "application/octet-stream";
}

} // namespace

// Proxied by the server, or a folder of this machine; nothing else is ours to
// write to.
void MlflowHttp::put_artifact(
    const Artifact& artifact,
    const std::string& uri) {
  std::error_code failed;
  if (!std::filesystem::exists(artifact.file, failed)) return;
  if (std::filesystem::is_directory(artifact.file, failed)) {
    log::warn(
        cat("[track] the artifact ",
            artifact.name,
            " is not delivered: ",
            artifact.file.string(),
            " is a folder."));
    return;
  }
  const std::string scheme = "mlflow-artifacts:";
  const std::string base = client_.base();
  if (uri.starts_with(scheme)) {
    std::string rest = uri.substr(scheme.size());
    std::string server = base;
    if (rest.starts_with("//")) {
      const auto slash = rest.find('/', 2);
      const std::string host = rest.substr(2, slash - 2);
      rest = slash == std::string::npos ? "/" : rest.substr(slash);
      if (!host.empty())
        server = cat(base.substr(0, base.find("://") + 3), host);
    }
    const std::string path =
        cat(rest, rest.back() == '/' ? "" : "/", artifact.name);
    const HttpReply reply = client_.put_file(
        cat(server,
            "/api/2.0/mlflow-artifacts/artifacts",
            percent_encoded(path, true)),
        artifact.file,
        content_type(artifact.name));
    const std::string_view body = trim(reply.body);
    const bool done = reply.status >= 200 && reply.status < 300;
    if (done && (body.empty() || body.front() == '{')) return;
    judge(reply, cat("the artifact ", artifact.name));
    return;
  }
  const bool local_server = contains(base, "://localhost") ||
      contains(base, "://127.0.0.1") || contains(base, "://[::1]");
  const std::filesystem::path folder = folder_in(uri);
  if (local_server && !folder.empty()) {
    copy_artifact(artifact, folder);
    return;
  }
  if (!told_of_artifacts_)
    log::warn(
        cat("the server keeps artifacts in ",
            client_.hidden(uri),
            ", which temper cannot write to: they stay in the run's directory. "
            "A server started with --serve-artifacts takes them."));
  told_of_artifacts_ = true;
}

} // namespace temper::track
