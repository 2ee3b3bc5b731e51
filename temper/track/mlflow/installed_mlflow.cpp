#include "temper/track/mlflow/installed_mlflow.h"

#include <algorithm>
#include <filesystem>

#include "temper/base/text.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

// "mlflow-3.4.0.dist-info" -> 3; mlflow_skinny brings the program, too.
int version_in(const std::string& name) {
  for (const std::string package : {"mlflow-", "mlflow_skinny-"})
    if (name.starts_with(package) && contains(name, ".dist-info"))
      return static_cast<int>(
          parse_int(split(name.substr(package.size()), '.')[0]).value_or(0));
  return 0;
}

// The version in the environment or system that this bin folder belongs to. The
// oldest, if several Pythons have one: it must not be locked out.
int version_beside(const fs::path& bin) {
  std::error_code failed;
  int oldest = 0;
  for (const auto& python :
       fs::directory_iterator(bin.parent_path() / "lib", failed)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const auto& each :
           fs::directory_iterator(python.path() / packages, failed))
        if (const int version = version_in(each.path().filename().string());
            version > 0)
          oldest = oldest == 0 ? version : std::min(oldest, version);
  }
  return oldest;
}

} // namespace

int installed_mlflow(const Environment& environment) {
  for (const std::string& folder :
       split(variable(environment, "PATH").value_or(""), ':')) {
    const fs::path program = fs::path(folder) / "mlflow";
    std::error_code failed;
    if (folder.empty() || !fs::is_regular_file(program, failed)) continue;
    if (const int version = version_beside(folder); version > 0) return version;
    // pipx and uv link to the environment that it lives in.
    const fs::path real = fs::canonical(program, failed);
    return failed ? 0 : version_beside(real.parent_path());
  }
  return 0;
}

} // namespace temper::track
