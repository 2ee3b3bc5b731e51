#include "temper/machine/libraries.h"

#include <array>
#include <filesystem>
#include <utility>

#include "temper/base/text.h"

namespace temper::machine {
std::vector<std::string> openmp_runtimes(
    const std::vector<std::string>& libraries) {
  std::vector<std::string> found;
  for (const auto& path : libraries) {
    const std::string name = std::filesystem::path(path).filename().string();
    for (const char* runtime : {"libgomp", "libomp", "libiomp"})
      // "libomp.so", "libomp-1234.dylib", not "libompl.so"
      if (name.starts_with(runtime) &&
          name.find_first_of(".-5", std::string(runtime).size()) ==
              std::string(runtime).size())
        found.push_back(path);
  }
  return found;
}

std::string blas_name(const std::vector<std::string>& libraries) {
  // Best known first; plain libblas last, as every one of them can stand
  // behind that name (Debian: .../openblas-pthread/libblas.so.3).
  constexpr std::array<std::pair<const char*, const char*>, 7> kKnown{{
      {"openblas", "OpenBLAS"},
      {"mkl_", "MKL"},
      {"/Accelerate", "Accelerate"},
      {"/vecLib", "Accelerate"},
      {"libblis", "BLIS"},
      {"atlas", "ATLAS"},
      {"libblas", "reference BLAS"},
  }};
  for (const auto& [part, name] : kKnown)
    for (const auto& path : libraries)
      if (contains(path, part)) return name;
  return "";
}

} // namespace temper::machine
