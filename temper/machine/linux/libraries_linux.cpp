#include <link.h>

#include <filesystem>

#include "temper/machine/libraries.h"

namespace temper::machine {

std::string executable_path() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).string();
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name == nullptr || info->dlpi_name[0] != '/') return 0;
        std::error_code failed;
        const auto real = std::filesystem::canonical(info->dlpi_name, failed);
        static_cast<std::vector<std::string>*>(out)->push_back(
            failed ? info->dlpi_name : real.string());
        return 0;
      },
      &paths);
  return paths;
}

} // namespace temper::machine
