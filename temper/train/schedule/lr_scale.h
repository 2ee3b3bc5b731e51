// Discriminative learning rates: optimizer.lr_scale = ["features.*=0.1"]. No
// torch; used by the optimisers.
#pragma once

#include <string>
#include <vector>

namespace temper::train {

struct LrScale {
  std::string pattern; // "features.*"
  double factor = 1;
};

// Error for what is not PATTERN=FACTOR with a factor from 0 to 1,000,000.
std::vector<LrScale> parse_lr_scales(const std::vector<std::string>& texts);

// The factor of a parameter: of the last pattern that fits it, else 1.
double lr_factor(const std::vector<LrScale>& scales, const std::string& name);

// Error, with the nearest name, for a pattern that fits none of them.
void check_lr_scales(
    const std::vector<LrScale>& scales,
    const std::vector<std::string>& names);

} // namespace temper::train
