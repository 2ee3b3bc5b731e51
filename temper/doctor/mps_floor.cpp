#include "temper/doctor/mps_floor.h"

#include <array>

namespace temper::doctor {
namespace {

struct Floor {
  Version torch; // from here on
  Version macos;
};

// Newest first.
constexpr std::array<Floor, 3> kFloors{{
    {{2, 9, 0}, {14, 0, 0}},
    {{2, 6, 0}, {13, 0, 0}},
    {{1, 12, 0}, {12, 3, 0}},
}};

} // namespace

std::optional<Version> mps_floor(const Version& torch) {
  for (const auto& floor : kFloors)
    if (torch >= floor.torch) return floor.macos;
  return std::nullopt;
}

} // namespace temper::doctor
