#include <mach-o/dyld.h>

#include "temper/machine/libraries.h"

namespace temper::machine {

std::string executable_path() {
  std::uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size); // tells the size it needs
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return "";
  return path.c_str();
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < _dyld_image_count(); ++i)
    if (const char* name = _dyld_get_image_name(i)) paths.emplace_back(name);
  return paths;
}

} // namespace temper::machine
