// The report on a Python environment, seen from outside: the interpreter, the
// versions and processor architectures of the packages people train with, and
// whether its torch can use the GPU. Plain data; python_checks judges it.
//
// The interpreter is run, never trusted: it may be missing, slow, noisy or no
// Python at all. inspect_python never throws for any of that.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "temper/base/process/process.h"

namespace temper::doctor {

// How one run of the interpreter went.
struct PythonRun {
  bool made = false; // false: not tried, as an earlier one failed
  ProcessResult::End end = ProcessResult::End::not_started;
  int code = 0;
  std::string error; // empty when its report could be read

  bool ok() const {
    return made && error.empty();
  }
};

struct PythonPackage {
  std::string name; // as pip has it: "tensorflow-macos"
  std::string version; // empty: not known to the package manager
  std::string location; // the folder it would be imported from; may be empty
  std::string binary; // its main shared library; empty: none found
  // The architectures of that library; a universal one has several: {"x86_64",
  // "arm64"}.
  std::vector<std::string> architectures;
};

// The answers of torch about one kind of device, and the result of trying it.
struct PythonDevice {
  bool built = false;
  bool available = false;
  bool usable = false; // a product of two matrices came back right
  bool float64 = false;
  std::string error; // why it was not usable
};

struct PythonTorch {
  PythonRun run;
  std::string step; // what was begun last: "import", "cuda", "mps", "done"
  bool imported = false;
  std::string error; // why the import failed; its first line
  std::string version;
  int threads = 0;
  PythonDevice mps;
  PythonDevice cuda;
};

struct PythonReport {
  std::string asked; // the executable that was named; empty: none was
  std::string executable; // the one that was run
  PythonRun run;

  std::string interpreter; // sys.executable
  std::string version; // "3.11.7"
  std::string implementation; // "CPython"
  std::string architecture; // of this process: "arm64", "x86_64"
  std::vector<std::string> architectures; // of the interpreter's file
  bool translated = false; // runs under Rosetta
  int bits = 0;
  std::string prefix;
  std::string virtual_environment; // its folder; empty: none
  std::string conda; // the conda environment's folder; empty: none
  std::vector<PythonPackage> packages; // those that are installed

  PythonTorch torch; // run.made is false when torch is not installed

  // The package of that name; null when it is not installed.
  const PythonPackage* package(std::string_view name) const;
};

struct PythonLimits {
  std::chrono::milliseconds version{10'000};
  std::chrono::milliseconds packages{20'000};
  // A first import from a cold disk, plus Metal compiling its first kernels.
  std::chrono::milliseconds torch{90'000};
  std::size_t output_bytes = std::size_t{1} << 20;
};

// An empty name means `python3` in PATH, which is how an active virtual or
// conda environment makes itself seen.
PythonReport inspect_python(
    const std::string& executable,
    const PythonLimits& limits = {});

} // namespace temper::doctor
