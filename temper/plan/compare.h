// The evidence in samples of two settings: which one is faster, and how surely.
// Pure functions of recorded times.
//
// Samples at the same place were taken in the same round, one right after the
// other: what slows the machine for a while slows both, and the ratio of a pair
// stays. The median of the ratios is the answer, how they scatter its error.
#pragma once

#include <vector>

namespace temper::plan {

struct Comparison {
  double ratio = 1; // seconds of the first against the second's
  double error = 1; // of the ratio's logarithm: about a part of the ratio

  bool faster() const; // the first, beyond noise and by enough to matter
  bool slower() const;
  // More samples would not change the decision: one is faster, or they are
  // equal for all purposes.
  bool settled() const;
};

// Compares two settings; both have at least one sample.
Comparison compare(
    const std::vector<double>& first_s,
    const std::vector<double>& second_s);

// How far samples scatter around their median, as a part of it: about one
// standard deviation, whatever a few outliers do. 0 for fewer than two samples.
double spread_of(const std::vector<double>& samples_s);

} // namespace temper::plan
