// LibTorch describes its own build in one long text (at::show_config). This
// reads the facts out of it; it needs no torch.
#include "temper/base/text.h"
#include "temper/libtorch/facts.h"

namespace temper::libtorch {
namespace {

// The value of "NAME=value, " in the build settings.
std::string setting(const std::string& config, const std::string& name) {
  for (const char* before : {" ", ","}) {
    const std::string key = cat(before, name, "=");
    const auto at = config.find(key);
    if (at == std::string::npos) continue;
    const auto begin = at + key.size();
    return config.substr(begin, config.find_first_of(",\n", begin) - begin);
  }
  return "";
}

// The text behind a label in the list above the build settings.
std::string labelled(const std::string& config, const std::string& label) {
  const auto at = config.find(label);
  if (at == std::string::npos) return "";
  const auto begin = at + label.size();
  const auto line = config.substr(begin, config.find('\n', begin) - begin);
  return std::string(trim(line));
}

bool on(const std::string& value) {
  return value == "ON" || value == "1";
}

} // namespace

BuildReport read_build_report(const std::string& config) {
  BuildReport report;
  report.version = setting(config, "TORCH_VERSION");
  report.blas = setting(config, "BLAS_INFO");
  report.lapack = setting(config, "LAPACK_INFO");
  report.cpu_capability = labelled(config, "CPU capability usage:");
  report.onednn = on(setting(config, "USE_MKLDNN"));
  report.openmp = on(setting(config, "USE_OPENMP"));
  report.cuda = on(setting(config, "USE_CUDA"));
  return report;
}

} // namespace temper::libtorch
