// The colours and sizes that all pictures share. The palette tells apart with
// every kind of colour vision, and on white paper.
#pragma once

#include <array>

#include "temper/plot/canvas.h"

namespace temper::plot {

inline constexpr Colour kPaper{1, 1, 1};
inline constexpr Colour kInk{0.13, 0.15, 0.18};
inline constexpr Colour kQuiet{0.40, 0.43, 0.48};
inline constexpr Colour kGrid{0.90, 0.91, 0.93};
inline constexpr Colour kAlarm{0.76, 0.10, 0.12};

inline constexpr std::array<Colour, 6> kPalette{
    {{0.00, 0.35, 0.71},
     {0.84, 0.37, 0.00},
     {0.00, 0.62, 0.45},
     {0.80, 0.47, 0.65},
     {0.34, 0.71, 0.91},
     {0.90, 0.62, 0.00}}};

inline constexpr double kTitleSize = 13;
inline constexpr double kLabelSize = 11;
inline constexpr double kTickSize = 10;

} // namespace temper::plot
