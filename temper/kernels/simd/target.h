// The vector units that training kernels are compiled for. A file named
// *_simd.cpp is compiled once for each of them, into a namespace of that
// name; the family's plain .cpp hands out the table of the unit in use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"

namespace temper::kernels {

enum class Target { kBaseline, kAvx2, kAvx512, kNeon };

std::string name_of(Target target);

// All that this build has code for and this processor can run, the fastest
// last.
std::vector<Target> runnable_targets();

// The unit in use: the fastest, or the one that TEMPER_VECTORS names (baseline,
// avx2, avx512, neon), unless a test has chosen another. A run on a processor
// with a wider unit has the bits of one with a narrower unit so. Throws Error
// for a name that means none of this machine's units.
Target target();

// The unit that the variable asks for; no value if it is not set.
std::optional<Target> asked_target(const Environment& environment);

// For tests. Not to be called while a kernel runs.
void choose_target(Target target);
void choose_fastest_target();

// One family's functions for every unit; units of other processors are null.
template <class Table>
struct PerTarget {
  const Table* baseline = nullptr;
  const Table* avx2 = nullptr;
  const Table* avx512 = nullptr;
  const Table* neon = nullptr;

  const Table& in_use() const {
    switch (target()) {
      case Target::kAvx2:
        return *avx2;
      case Target::kAvx512:
        return *avx512;
      case Target::kNeon:
        return *neon;
      case Target::kBaseline:
        break;
    }
    return *baseline;
  }
};

} // namespace temper::kernels
