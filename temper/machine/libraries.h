// The program and the shared libraries this process runs: which BLAS LibTorch
// really calls, and whether two OpenMP runtimes fight over the cores.
#pragma once

#include <string>
#include <vector>

namespace temper::machine {

// The path of this very program, to start it again; empty when the system
// cannot tell.
std::string executable_path();

// Full paths, symbolic links resolved (Debian chooses its BLAS by link).
std::vector<std::string> loaded_libraries();

// The OpenMP runtimes among them, one path each; more than one is trouble.
std::vector<std::string> openmp_runtimes(
    const std::vector<std::string>& libraries);

// The BLAS among them: "OpenBLAS", "MKL", "Accelerate", "BLIS", "ATLAS",
// "reference BLAS"; empty when none is recognised.
std::string blas_name(const std::vector<std::string>& libraries);

} // namespace temper::machine
