#include "temper/base/text.h"
#include "temper/doctor/checks.h"

namespace temper::doctor {
namespace {

constexpr const char* kBuildGroup = "build";
using Found = std::optional<Check>;

Found libtorch_version(const Evidence& evidence) {
  const auto& facts = evidence.machine.libtorch;
  Check check{kBuildGroup, "LibTorch", "", Verdict::ok, "", ""};
  if (!facts.present) {
    check.found = "this temper was built without LibTorch";
    check.verdict = Verdict::bad;
    check.advice = "Build it with LibTorch to train: make.";
    return check;
  }
  check.found =
      cat(facts.version.empty() ? facts.built_with : facts.version,
          facts.onednn ? ", oneDNN" : "",
          facts.openmp ? ", OpenMP" : "",
          facts.cuda_built ? ", CUDA" : "",
          facts.mps_built ? ", MPS" : "");
  const auto loaded = parse_version(facts.version);
  const auto built = parse_version(facts.built_with);
  const bool same = !loaded || !built ||
      (loaded->major == built->major && loaded->minor == built->minor);
  if (same) return check;
  check.found += cat("; temper was compiled for ", facts.built_with);
  check.verdict = Verdict::bad;
  check.advice =
      "Another LibTorch than the one temper was built for is being loaded. "
      "Build temper again, or take the other one off the library path.";
  return check;
}

Found vector_level(const Evidence& evidence) {
  const auto& machine = evidence.machine;
  const auto& level = machine.libtorch.cpu_capability;
  if (level.empty()) return std::nullopt;
  Check check{kBuildGroup, "CPU kernels", level, Verdict::ok, "", ""};
  const bool capable =
      machine.cpu.simd == "AVX2" || machine.cpu.simd == "AVX-512";
  const bool plain = level == "DEFAULT" || level == "NO AVX";
  if (!capable || !plain) return check;
  check.found = cat(level, ", though this processor has ", machine.cpu.simd);
  check.verdict = Verdict::warn;
  check.advice =
      "Unset ATEN_CPU_CAPABILITY if it is set; in a container, mount /proc so "
      "that LibTorch can see the processor.";
  return check;
}

Found threads(const Evidence& evidence) {
  const auto& machine = evidence.machine;
  if (!machine.libtorch.present) return std::nullopt;
  const int theirs = machine.libtorch.default_threads;
  const int cores = machine.cpu.performance > 0 ? machine.cpu.performance
                                                : machine.cpu.physical;
  Check check{kBuildGroup, "threads", "", Verdict::ok, "", ""};
  check.found =
      cat("LibTorch would use ", theirs, " of ", plural(cores, "fast core"));
  if (theirs < cores && theirs < machine.cpu.usable) {
    check.verdict = Verdict::note;
    check.advice =
        cat("temper sets the threads itself. In your own PyTorch scripts: "
            "torch.set_num_threads(",
            cores,
            ").");
  } else if (theirs > cores && cores > 0) {
    check.verdict = Verdict::note;
    check.advice =
        "temper sets the threads itself; more threads than fast cores slow "
        "every operator down.";
  }
  return check;
}

// A good BLAS reaches well over half of the peak on one thread; the reference
// one about 2 %. The bar lies between, below what a busy machine does to a
// good one.
Found blas(const Evidence& evidence) {
  if (!evidence.blas) return std::nullopt;
  const BlasSpeed& speed = *evidence.blas;
  if (speed.peak_gflops <= 0) return std::nullopt;
  constexpr double kPoorShare = 0.2;
  const double share = speed.sgemm_gflops / speed.peak_gflops;
  Check check{kBuildGroup, "BLAS", "", Verdict::ok, "", ""};
  check.found =
      cat(speed.name.empty() ? "unrecognised library" : speed.name,
          ": ",
          decimals(speed.sgemm_gflops, 1),
          " GFLOP/s on one core, ",
          decimals(share * 100, 0),
          " % of its peak of ",
          decimals(speed.peak_gflops, 0));
  if (share >= kPoorShare) return check;
  check.verdict = speed.name == "reference BLAS" ? Verdict::bad : Verdict::warn;
  check.advice = evidence.machine.platform.os == "macos"
      ? "Use a LibTorch built on Accelerate (pip install torch)."
      : "Install an optimised BLAS: apt-get install libopenblas0-openmp.";
  if (speed.name != "reference BLAS")
    check.advice +=
        " If one is installed, another program may be using the "
        "cores right now: run temper doctor again.";
  return check;
}

Found openmp(const Evidence& evidence) {
  const auto& runtimes = evidence.openmp_runtimes;
  if (runtimes.empty()) return std::nullopt;
  Check check{
      kBuildGroup, "OpenMP runtime", join(runtimes, ", "), Verdict::ok, "", ""};
  if (runtimes.size() == 1) return check;
  check.verdict = Verdict::bad;
  check.advice =
      "Two OpenMP runtimes in one process can hang or halve the speed. Link "
      "LibTorch and temper against one (macOS: one libomp).";
  check.source = "pytorch#193520";
  return check;
}

} // namespace

std::vector<CheckFunction> build_checks() {
  return {libtorch_version, vector_level, threads, blas, openmp};
}

} // namespace temper::doctor
